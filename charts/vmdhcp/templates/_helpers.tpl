{{/* How names of objects begin. A cluster has one installation, so they do not depend on the release. */}}
{{- define "vmdhcp.fullname" -}}
{{- .Values.fullnameOverride | default "vm-dhcp" -}}
{{- end }}

{{- define "vmdhcp.controller.name" -}}
{{- include "vmdhcp.fullname" . }}-controller
{{- end }}

{{- define "vmdhcp.webhook.name" -}}
{{- include "vmdhcp.fullname" . }}-webhook
{{- end }}

{{- define "vmdhcp.agent.name" -}}
{{- include "vmdhcp.fullname" . }}-controller-agent
{{- end }}

{{/* Of the Service, and of the ServiceAccount of agents, of Wake-on-LAN. */}}
{{- define "vmdhcp.wakeOnLan.name" -}}
{{- include "vmdhcp.fullname" . }}-wake-on-lan
{{- end }}

{{- define "vmdhcp.wakeOnLan.serviceAccount" -}}
{{- include "vmdhcp.wakeOnLan.name" . }}-agent
{{- end }}

{{/* SecurityContextConstraints of OpenShift: of the agents of IPPools, and of those of ClusterAgents. Agents of Wake-on-LAN have those named after their ServiceAccount. */}}
{{- define "vmdhcp.agent.constraints" -}}
{{- include "vmdhcp.fullname" . }}-agent
{{- end }}

{{- define "vmdhcp.bareMetal.constraints" -}}
{{- include "vmdhcp.fullname" . }}-bare-metal-agent
{{- end }}

{{/* "true" where the cluster is OpenShift, or the values say so. */}}
{{- define "vmdhcp.openshift" -}}
{{- $wanted := .Values.openshift.enabled | toString -}}
{{- if or (eq $wanted "true") (and (eq $wanted "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}true{{- end -}}
{{- end }}

{{/* "true" where the controller deploys agents of any kind. */}}
{{- define "vmdhcp.hasAgents" -}}
{{- if or .Values.agent.enabled .Values.wakeOnLan.enabled .Values.bareMetal.enabled -}}true{{- end -}}
{{- end }}

{{- define "vmdhcp.controller.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "vmdhcp.controller.name" .) -}}
{{- end }}

{{- define "vmdhcp.webhook.serviceAccount" -}}
{{- .Values.webhook.serviceAccount.name | default (include "vmdhcp.webhook.name" .) -}}
{{- end }}

{{/* Of the agents' Deployment; the topology decides whether the name in the values means it. */}}
{{- define "vmdhcp.agent.serviceAccount" -}}
{{- if eq .Values.agent.topology "unified" -}}
{{- .Values.agent.serviceAccount.name | default (include "vmdhcp.agent.name" .) -}}
{{- else -}}
{{- include "vmdhcp.agent.name" . -}}
{{- end -}}
{{- end }}

{{/* "true" where all agents share a ServiceAccount that is named in the values, and the controller creates none. */}}
{{- define "vmdhcp.agent.shared" -}}
{{- if and .Values.agent.enabled (ne .Values.agent.topology "unified") .Values.agent.serviceAccount.name -}}true{{- end -}}
{{- end }}

{{/* "true" where the chart installs the Deployment of the agents. */}}
{{- define "vmdhcp.agent.hasDeployment" -}}
{{- $create := .Values.agent.createDeployment | toString -}}
{{- if and .Values.agent.enabled (or (eq $create "true") (and (eq $create "auto") (eq .Values.agent.topology "unified"))) -}}true{{- end -}}
{{- end }}

{{/* Of `root`, `component` and `more` (labels of one object, which win over those of all). */}}
{{- define "vmdhcp.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "vmdhcp.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: vmdhcp
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with merge (dict) (.more | default dict) (.root.Values.commonLabels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of `root` and `component`: what never changes. */}}
{{- define "vmdhcp.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Values.nameOverride | default .root.Chart.Name | toYaml }}
app.kubernetes.io/instance: {{ .root.Release.Name | toYaml }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Of `root` and `image`. */}}
{{- define "vmdhcp.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* What `vmdhcp.image` takes, of the webhook: its own tag or digest, else the controller's. */}}
{{- define "vmdhcp.webhook.image" -}}
{{- $own := .Values.webhook.image -}}
{{- $repository := $own.repository | default .Values.image.repository -}}
{{- if or $own.tag $own.digest -}}
{{- include "vmdhcp.image" (dict "root" . "image" (dict "repository" $repository "tag" $own.tag "digest" $own.digest)) -}}
{{- else -}}
{{- include "vmdhcp.image" (dict "root" . "image" (dict "repository" $repository "tag" .Values.image.tag "digest" .Values.image.digest)) -}}
{{- end -}}
{{- end }}

{{/* Of `root`, `component` and `given`: replicas on different nodes, where there are several. A constraint without a selector would count no pod. */}}
{{- define "vmdhcp.spread" -}}
{{- if .given -}}
{{- $labels := include "vmdhcp.selectorLabels" . | fromYaml -}}
{{- $given := list -}}
{{- range .given -}}
{{- $given = append $given (hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" (dict "matchLabels" $labels))) -}}
{{- end -}}
{{ toYaml $given }}
{{- else -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "vmdhcp.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end }}

{{/* Of `root`, `value` (true, false, auto) and `kind`: "true" where an object of the Prometheus operator is wanted. */}}
{{- define "vmdhcp.monitors" -}}
{{- $wanted := .value | toString -}}
{{- if or (eq $wanted "true") (and (eq $wanted "auto") (.root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind))) -}}true{{- end -}}
{{- end }}
