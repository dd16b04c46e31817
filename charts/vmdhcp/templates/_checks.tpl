{{/* What values.schema.json cannot say. Every problem is listed. */}}
{{- define "vmdhcp.check" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- range $path, $repository := dict "image" $values.image.repository "agent.image" $values.agent.image.repository "webhook.image" $values.webhook.image.repository -}}
{{- if contains "harvester-vm-dhcp-" ($repository | toString) -}}
{{- $problems = append $problems (printf "%s.repository: %s is a program of Harvester's vm-dhcp-controller, which this chart cannot run; remove %s.repository, %s.tag and %s.digest" $path $repository $path $path $path) -}}
{{- end -}}
{{- end -}}
{{- if ($values.ingress).enabled -}}
{{- $problems = append $problems "ingress.enabled: the controller has no pages for an Ingress; remove ingress (metrics are at the Service)" -}}
{{- end -}}
{{- if ($values.autoscaling).enabled -}}
{{- $problems = append $problems "autoscaling.enabled: one replica is leader and does the work, so more of them do not help; remove autoscaling and set replicaCount" -}}
{{- end -}}
{{- $lease := include "vmdhcp.milliseconds" $values.leaderElection.leaseDuration | int -}}
{{- $deadline := include "vmdhcp.milliseconds" $values.leaderElection.renewDeadline | int -}}
{{- $retry := include "vmdhcp.milliseconds" $values.leaderElection.retryPeriod | int -}}
{{- if or (le $lease $deadline) (le (mul $deadline 5) (mul $retry 6)) -}}
{{- $problems = append $problems (printf "leaderElection: leaseDuration (%s) must be longer than renewDeadline (%s), and that longer than 1.2 times retryPeriod (%s); the defaults are 15s, 10s and 2s" $values.leaderElection.leaseDuration $values.leaderElection.renewDeadline $values.leaderElection.retryPeriod) -}}
{{- end -}}
{{- $alerts := list -}}
{{- range (.Files.Get "files/vmdhcp.rules.yaml" | fromYaml).groups -}}
{{- range .rules -}}
{{- $alerts = append $alerts .alert -}}
{{- end -}}
{{- end -}}
{{- range $values.alerts.disabled -}}
{{- if not (has . $alerts) -}}
{{- $problems = append $problems (printf "alerts.disabled: there is no alert %s; docs/runbooks has all" .) -}}
{{- end -}}
{{- end -}}
{{- if ne (int $values.webhook.service.port) 443 -}}
{{- $problems = append $problems (printf "webhook.service.port: %d: the webhook registers itself with port 443; remove webhook.service.port" (int $values.webhook.service.port)) -}}
{{- end -}}
{{- if and (include "vmdhcp.hasAgents" .) $values.agent.createNamespace (eq $values.agent.namespace .Release.Namespace) -}}
{{- $problems = append $problems (printf "agent.namespace: %s is the namespace of the release, which the chart cannot create; set agent.createNamespace to false, or leave the agents in a namespace of their own" $values.agent.namespace) -}}
{{- end -}}
{{- if and $values.agent.previousNamespace (eq $values.agent.previousNamespace $values.agent.namespace) -}}
{{- $problems = append $problems (printf "agent.previousNamespace: %s is agent.namespace; remove agent.previousNamespace" $values.agent.previousNamespace) -}}
{{- end -}}
{{- if and $values.agent.noLeaderElection (gt (int $values.agent.replicaCount) 1) -}}
{{- $problems = append $problems (printf "agent.noLeaderElection: %d agents without an election would all add the server addresses; set agent.replicaCount to 1, or agent.noLeaderElection to false" (int $values.agent.replicaCount)) -}}
{{- end -}}
{{- if and $values.onlyNamespace $values.agent.enabled (ne $values.onlyNamespace $values.agent.namespace) (not $values.agent.serviceAccount.name) -}}
{{- $problems = append $problems (printf "onlyNamespace: with %s the controller gives no rights in namespace %s; set agent.serviceAccount.name, or agent.namespace to %s" $values.onlyNamespace $values.agent.namespace $values.onlyNamespace) -}}
{{- end -}}
{{- range $path, $labels := dict "commonLabels" $values.commonLabels "agent.namespaceLabels" $values.agent.namespaceLabels "serviceMonitor.labels" $values.serviceMonitor.labels "podMonitor.labels" $values.podMonitor.labels "alerts.labels" $values.alerts.labels "dashboards.labels" $values.dashboards.labels -}}
{{- range $label := keys ($labels | default dict) | sortAlpha -}}
{{- if or (hasPrefix "network.harvesterhci.io/" $label) (has $label (list "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/version" "app.kubernetes.io/part-of" "app.kubernetes.io/managed-by")) -}}
{{- $problems = append $problems (printf "%s: the chart sets the label %s itself; remove it" $path $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $path, $labels := dict "podLabels" $values.podLabels "webhook.podLabels" $values.webhook.podLabels "agent.podLabels" $values.agent.podLabels -}}
{{- range $label := keys ($labels | default dict) | sortAlpha -}}
{{- if or (hasPrefix "network.harvesterhci.io/" $label) (has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component")) -}}
{{- $problems = append $problems (printf "%s: the Deployment finds its pods by the label %s; remove it" $path $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.wakeOnLan.enabled (eq (int $values.wakeOnLan.port) (int $values.service.metricsPort)) -}}
{{- $problems = append $problems (printf "wakeOnLan.port: %d is service.metricsPort too; choose another port" (int $values.wakeOnLan.port)) -}}
{{- end -}}
{{- if not $values.wakeOnLan.enabled -}}
{{- if $values.wakeOnLan.clearText -}}
{{- $problems = append $problems "wakeOnLan.clearText: it has no effect without wakeOnLan.enabled; set wakeOnLan.enabled to true, or remove wakeOnLan.clearText" -}}
{{- end -}}
{{- end -}}
{{- if and $values.ui.enabled (or (eq (int $values.ui.port) (int $values.service.metricsPort)) (and $values.wakeOnLan.enabled (eq (int $values.ui.port) (int $values.wakeOnLan.port)))) -}}
{{- $problems = append $problems (printf "ui.port: %d is service.metricsPort or wakeOnLan.port too; choose another port" (int $values.ui.port)) -}}
{{- end -}}
{{- if and $values.ui.service.enabled (not $values.ui.enabled) -}}
{{- $problems = append $problems "ui.service.enabled: it has no effect without ui.enabled; set ui.enabled to true, or remove ui.service.enabled" -}}
{{- end -}}
{{- if and $values.ui.enabled $values.ui.service.enabled (not $values.ui.certificateSecret) -}}
{{- $problems = append $problems "ui.certificateSecret: users would send their tokens in clear text; name a Secret with tls.crt and tls.key, or remove ui.service.enabled and use kubectl port-forward" -}}
{{- end -}}
{{- if and (not $values.bareMetal.enabled) (ne $values.bareMetal.leases.type "api") -}}
{{- $problems = append $problems "bareMetal.leases.type: it has no effect without bareMetal.enabled; set bareMetal.enabled to true, or remove bareMetal.leases.type" -}}
{{- end -}}
{{- if and (not $values.bareMetal.enabled) $values.bareMetal.secretNamespaces -}}
{{- $problems = append $problems "bareMetal.secretNamespaces: it has no effect without bareMetal.enabled; set bareMetal.enabled to true, or remove bareMetal.secretNamespaces" -}}
{{- end -}}
{{- range $path, $port := dict "webhook.httpsPort" $values.webhook.httpsPort "webhook.service.port" $values.webhook.service.port -}}
{{- if eq (int $port) (int $values.webhook.metricsPort) -}}
{{- $problems = append $problems (printf "webhook.metricsPort: %d is %s too; choose another port" (int $port) $path) -}}
{{- end -}}
{{- end -}}
{{- $account := include "vmdhcp.controller.serviceAccount" . -}}
{{- $created := list -}}
{{- if $values.serviceAccount.create -}}
{{- $created = append $created (printf "%s/%s" .Release.Namespace $account) -}}
{{- end -}}
{{- if and $values.webhook.enabled $values.webhook.serviceAccount.create -}}
{{- $created = append $created (printf "%s/%s" .Release.Namespace (include "vmdhcp.webhook.serviceAccount" .)) -}}
{{- end -}}
{{- if $values.agent.serviceAccount.create -}}
{{- if include "vmdhcp.agent.hasDeployment" . -}}
{{- $created = append $created (printf "%s/%s" $values.agent.namespace (include "vmdhcp.agent.serviceAccount" .)) -}}
{{- end -}}
{{- if include "vmdhcp.agent.shared" . -}}
{{- $created = append $created (printf "%s/%s" $values.agent.namespace $values.agent.serviceAccount.name) -}}
{{- end -}}
{{- end -}}
{{- if $values.wakeOnLan.enabled -}}
{{- $created = append $created (printf "%s/%s" $values.agent.namespace (include "vmdhcp.wakeOnLan.serviceAccount" .)) -}}
{{- end -}}
{{- if ne (len $created) (len (uniq $created)) -}}
{{- $problems = append $problems (printf "serviceAccount.name, webhook.serviceAccount.name, agent.serviceAccount.name: one ServiceAccount would be created twice (%s), and give each program the rights of the other; choose different names" (join ", " $created)) -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n\n%d problem(s) with the values:\n  - %s\n" (len .) (join "\n  - " .)) -}}
{{- end -}}
{{- end }}

{{/* A duration such as 1m30s in milliseconds. */}}
{{- define "vmdhcp.milliseconds" -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" . -1 -}}
{{- $unit := regexFind "(ms|s|m|h)$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit)) -}}
{{- end -}}
{{- int $sum -}}
{{- end }}
