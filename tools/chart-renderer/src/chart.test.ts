/** charts/vmdhcp: its values, what it refuses, and what follows from it. Whether a cluster accepts it: tools/lab/tests/chart.cluster.test.ts. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { describeValues } from './describe-values.js';
import { CHART, mergeValues, renderChart, renderNotes } from './render-chart.js';
import { MANIFESTS, renderManifest } from './render-manifest.js';
import { hasRenderer, NEEDS_RENDERER, rendererProgram } from './renderer-program.js';
import { valuesProblems } from './values-problems.js';

const ROOT = join(CHART, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const SETS = globSync(join(CHART, 'ci/*-values.yaml')).toSorted();

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly template?: { readonly spec: PodSpec } } & Partial<PodSpec>;
}
interface RulesObject {
  readonly spec: {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly labels: Readonly<Record<string, string>> }[];
    }[];
  };
}
interface PodSpec {
  readonly securityContext?: object;
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly args?: readonly string[];
    readonly securityContext: object;
  }[];
}

const rendered = (settings: Parameters<typeof renderChart>[0]) => renderChart(settings) as unknown as readonly Rendered[];
const refused = (...set: readonly string[]) =>
  valuesProblems(mergeValues({ set })).map(({ path, message }) => `${path} ${message}`);

describe.skipIf(!hasRenderer())(`the chart ${NEEDS_RENDERER}`, () => {
  // A new machine compiles it first.
  beforeAll(() => void rendererProgram(), 180_000);

  it.each(SETS.map((path) => [basename(path), path] as const))('accepts the values of ci/%s', (_, path) => {
    expect(valuesProblems(mergeValues({ files: [path] }))).toEqual([]);
    const objects = rendered({ files: [path] });
    for (const { kind, metadata } of objects) {
      for (const label of ['name', 'instance', 'component', 'version', 'part-of', 'managed-by'])
        expect(metadata.labels, `${kind} ${metadata.name}`).toHaveProperty([`app.kubernetes.io/${label}`]);
      expect(metadata.labels).toMatchObject({ 'helm.sh/chart': expect.stringMatching(/^vmdhcp-\d/) as string });
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(renderNotes({ files: [path] })).toContain('rollout status deployment/');
  });

  it('a constraint of spreading without a selector has that of the pods, and one with a selector keeps it', () => {
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const own = { ...constraint, labelSelector: { matchLabels: { app: 'own' } } };
    const fields = ['maxSkew=1', 'topologyKey=zone', 'whenUnsatisfiable=DoNotSchedule'];
    const set = [0, 1].flatMap((index) => fields.map((field) => `topologySpreadConstraints[${index}].${field}`));
    const objects = renderChart({
      set: [...set, 'topologySpreadConstraints[1].labelSelector.matchLabels.app=own'],
    }) as unknown as readonly {
      readonly kind: string;
      readonly spec: {
        readonly selector: object;
        readonly template: { readonly spec: { readonly topologySpreadConstraints: object } };
      };
    }[];
    const controller = objects.find(({ kind }) => kind === 'Deployment');
    expect(controller?.spec.template.spec.topologySpreadConstraints).toEqual([
      { ...constraint, labelSelector: controller?.spec.selector },
      own,
    ]);
  });

  it.each<[string, string]>([
    ['replicaCount=-1', 'replicaCount must be >= 0'],
    ['replicaCount=two', 'replicaCount must be integer'],
    ['replicas=2', 'replicas is unknown'],
    ['agent.topolgy=unified', 'agent.topolgy is unknown'],
    ['agent.topology=per-node', 'agent.topology must be equal to one of the allowed values: per-network, per-pool, unified'],
    ['agent.image.tag=a/b', 'agent.image.tag must match pattern'],
    ['image.digest=sha256:1', 'image.digest must match pattern'],
    ['image.repository=Registry/X', 'image.repository must match pattern'],
    ['image.pullPolicy=Sometimes', 'image.pullPolicy must be equal to one of the allowed values: Always, IfNotPresent, Never'],
    ['agent.leaseSeconds=1', 'agent.leaseSeconds must be >= 2.5'],
    ['agent.maxPoolsPerAgent=0', 'agent.maxPoolsPerAgent must be >= 1'],
    ['agent.namespace=', 'agent.namespace must match pattern'],
    ['agent.namespace=Agents', 'agent.namespace must match pattern'],
    ['agent.resources.limits.memory=a lot', 'agent.resources.limits.memory must match pattern'],
    ['agent.resources.limits=null', "agent.resources must have required property 'limits'"],
    ['crds.managedBy=helm', 'crds.managedBy must be equal to one of the allowed values: controller, chart, none'],
    ['fullnameOverride=Dhcp', 'fullnameOverride must match pattern'],
    ['logLevel=loud', 'logLevel must be equal to one of the allowed values: trace, debug, info, warn, error, silent'],
    ['leaderElection.leaseDuration=15', 'leaderElection.leaseDuration must be string'],
    ['serviceMonitor.enabled=maybe', 'serviceMonitor.enabled must be equal to one of the allowed values: true, false, auto'],
    ['alerts.enabled=maybe', 'alerts.enabled must be equal to one of the allowed values: true, false, auto'],
    ['alerts.disabled={Other}', 'alerts.disabled.0 must match pattern'],
    ['alerts.interval=1m', 'alerts.interval is unknown'],
    ['dashboards.enabled=auto', 'dashboards.enabled must be boolean'],
    ['dashboards.namespace=Grafana', 'dashboards.namespace must match pattern'],
    ['service.metricsPort=0', 'service.metricsPort must be >= 1'],
    ['service.metricsPort=99999', 'service.metricsPort must be <= 65535'],
    ['service.type=ExternalName', 'service.type must be equal to one of the allowed values: ClusterIP, NodePort, LoadBalancer'],
    ['networkPolicy.apiServerPorts={}', 'networkPolicy.apiServerPorts must NOT have fewer than 1 items'],
    ['podDisruptionBudget.maxUnavailable=some', 'podDisruptionBudget.maxUnavailable must match pattern'],
    ['imagePullSecrets={registry}', 'imagePullSecrets.0 must be object'],
    ['extraEnv[0].value=x', "extraEnv.0 must have required property 'name'"],
    ['tolerations[0].effect=Never', 'tolerations.0.effect must be equal to one of the allowed values'],
    ['affinity.podAffinty.x=1', 'affinity.podAffinty is unknown'],
    ['webhook.virtualMachines=ignore', 'webhook.virtualMachines must be equal to one of the allowed values: warn, refuse'],
    ['webhook.serviceCIDRs={10.53.0.0}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.serviceCIDRs={10.96.0.0/40}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.serviceCIDRs={10.256.0.0/16}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.serviceCIDRs={10.53.0.0.16}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.serviceCIDRs={10/53/0/0/16}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.serviceCIDRs={fd00::/129}', 'webhook.serviceCIDRs.0 must match pattern'],
    ['webhook.apiServerAddresses={host}', 'webhook.apiServerAddresses.0 must match pattern'],
    ['webhook.certManager.issuerRef.kid=Issuer', 'webhook.certManager.issuerRef.kid is unknown'],
    ['livenessProbe.httpGet.path=/x', 'livenessProbe.httpGet is unknown'],
    ['bareMetal.leases.type=etcd', 'bareMetal.leases.type must be'],
    ['wakeOnLan.enabled=yes', 'wakeOnLan.enabled must be boolean'],
    ['wakeOnLan.port=0', 'wakeOnLan.port must be >= 1'],
    ['wakeOnLan.image.tag=v1', 'wakeOnLan.image is unknown'],
    ['ui.enabled=yes', 'ui.enabled must be boolean'],
    ['ui.tls=true', 'ui.tls is unknown'],
    ['networkPolicy.nodeCIDRs={nodes}', 'networkPolicy.nodeCIDRs.0 must match pattern'],
    ['replicaCount=null', "must have required property 'replicaCount'"],
    ['agent.replicaCount=null', "agent must have required property 'replicaCount'"],
    ['webhook=null', "must have required property 'webhook'"],
    ['webhook.certManager.issuerRef.kind=Issuer', "webhook.certManager.issuerRef must have required property 'name'"],
  ])('values.schema.json refuses --set %s', (set, problem) => {
    expect(refused(set).join('\n')).toContain(problem);
  });

  it('lists every problem of the schema at once', () => {
    expect(refused('replicaCount=-1,foo=1', 'agent.topology=x')).toHaveLength(3);
  });

  it.each<[string, string]>([
    [
      'image.repository=rancher/harvester-vm-dhcp-controller',
      'image.repository: rancher/harvester-vm-dhcp-controller is a program of',
    ],
    [
      'agent.image.repository=rancher/harvester-vm-dhcp-agent',
      'remove agent.image.repository, agent.image.tag and agent.image.digest',
    ],
    ['ingress.enabled=true', 'ingress.enabled: the controller has no pages for an Ingress; remove ingress'],
    ['autoscaling.enabled=true', 'autoscaling.enabled: one replica is leader and does the work'],
    ['webhook.service.port=8443', 'webhook.service.port: 8443: the webhook registers itself with port 443'],
    ['agent.namespace=vm-dhcp-system', 'agent.namespace: vm-dhcp-system is the namespace of the release'],
    ['agent.previousNamespace=vm-dhcp-agents', 'agent.previousNamespace: vm-dhcp-agents is agent.namespace'],
    ['agent.noLeaderElection=true', 'agent.noLeaderElection: 2 agents without an election'],
    ['onlyNamespace=red', 'onlyNamespace: with red the controller gives no rights in namespace vm-dhcp-agents'],
    ['webhook.httpsPort=8080', 'webhook.metricsPort: 8080 is webhook.httpsPort too'],
    ['webhook.metricsPort=443', 'webhook.metricsPort: 443 is webhook.service.port too'],
    ['commonLabels.app\\.kubernetes\\.io/part-of=x', 'commonLabels: the chart sets the label app.kubernetes.io/part-of itself'],
    ['podLabels.app\\.kubernetes\\.io/name=x', 'podLabels: the Deployment finds its pods by the label app.kubernetes.io/name'],
    [
      'podLabels.network\\.harvesterhci\\.io/vm-dhcp-controller=agent',
      'podLabels: the Deployment finds its pods by the label network.harvesterhci.io/vm-dhcp-controller',
    ],
    ['wakeOnLan.enabled=true,wakeOnLan.port=8080', 'wakeOnLan.port: 8080 is service.metricsPort too; choose another port'],
    [
      'wakeOnLan.clearText=true',
      'wakeOnLan.clearText: it has no effect without wakeOnLan.enabled; set wakeOnLan.enabled to true, or',
    ],
    ['alerts.disabled={VmdhcpNoSuchAlert}', 'alerts.disabled: there is no alert VmdhcpNoSuchAlert; docs/runbooks has all'],
    ['alerts.labels.helm\\.sh/chart=x', 'alerts.labels: the chart sets the label helm.sh/chart itself'],
    ['bareMetal.leases.type=pvc', 'bareMetal.leases.type: it has no effect without bareMetal.enabled'],
    ['ui.enabled=true,ui.port=8080', 'ui.port: 8080 is service.metricsPort or wakeOnLan.port too; choose another port'],
    ['ui.service.enabled=true', 'ui.service.enabled: it has no effect without ui.enabled; set ui.enabled to true, or'],
    ['ui.enabled=true,ui.service.enabled=true', 'ui.certificateSecret: users would send their tokens in clear text'],
    [
      'wakeOnLan.enabled=true,agent.enabled=false,agent.namespace=vm-dhcp-system',
      'agent.namespace: vm-dhcp-system is the namespace of the release',
    ],
    [
      'wakeOnLan.enabled=true,agent.serviceAccount.name=vm-dhcp-wake-on-lan-agent',
      'vm-dhcp-agents/vm-dhcp-wake-on-lan-agent, vm-dhcp-agents/vm-dhcp-wake-on-lan-agent), and give each program',
    ],
    ['serviceAccount.name=a,webhook.serviceAccount.name=a', 'one ServiceAccount would be created twice (vm-dhcp-system/a,'],
    ['leaderElection.leaseDuration=5s', 'leaderElection: leaseDuration (5s) must be longer than renewDeadline (10s)'],
    ['leaderElection.leaseDuration=10000ms', 'leaderElection: leaseDuration (10000ms) must be longer than renewDeadline (10s)'],
    ['leaderElection.retryPeriod=8.5s', 'and that longer than 1.2 times retryPeriod (8.5s)'],
  ])('refuses --set %s, and states what to do', (set, problem) => {
    expect(valuesProblems(mergeValues({ set: [set] }))).toEqual([]);
    expect(() => renderChart({ set: [set] })).toThrow(problem);
  });

  const EVERYTHING = [
    'agent.topology=unified',
    ...['networkPolicy', 'serviceMonitor', 'podMonitor', 'alerts', 'dashboards', 'webhook.certManager', 'wakeOnLan', 'ui'].map(
      (what) => `${what}.enabled=true`,
    ),
  ];
  const describedPaths = describeValues().map(({ path }) => path);
  const withGroups = describedPaths.flatMap((path) => path.split('.').map((_, end, keys) => keys.slice(0, end + 1).join('.')));

  it.each([...new Set(withGroups)])('refuses null for %s, or does without', (path) => {
    const set = [...EVERYTHING, `${path}=null`];
    if (valuesProblems(mergeValues({ set })).length > 0) return;
    expect(oddities(renderChart({ set }))).toEqual([]);
  });

  it('writes as text what YAML would read as something else', () => {
    const serviceAccount = { name: '1e3' };
    const values = {
      ...{ nameOverride: '123', serviceAccount: { name: 'null' }, webhook: { serviceAccount: { name: '0x1f' } } },
      agent: { namespace: '007', previousNamespace: '42', serviceAccount },
    };
    const unified = { ...values, agent: { ...values.agent, topology: 'unified', priorityClassName: '1' } };
    for (const each of [values, unified])
      expect(oddities(renderChart({ name: 'true', namespace: '2024', values: each, set: EVERYTHING.slice(1) }))).toEqual([]);
  });

  it('a label of one object wins over that of all', () => {
    const set = [
      'commonLabels.a=all',
      'serviceMonitor.enabled=true',
      'serviceMonitor.labels.a=one',
      'agent.namespaceLabels.a=one',
    ];
    const objects = rendered({ set });
    const labelOf = (wanted: string) => objects.find(({ kind }) => kind === wanted)?.metadata.labels?.['a'];
    expect(['Deployment', 'ServiceMonitor', 'Namespace'].map(labelOf)).toEqual(['all', 'one', 'one']);
  });

  it('names the Roles of agents itself: a ServiceAccount may have the name of a role that exists', () => {
    const roles = rendered({ set: ['agent.serviceAccount.name=view'] }).filter(({ kind }) => kind.endsWith('Role'));
    expect(roles.map(({ metadata }) => metadata.name)).not.toContain('view');
  });

  it('accepts the condition of a parent chart', () => {
    expect(refused('enabled=true')).toEqual([]);
  });

  it('gives the networks of the cluster to the controller as to the webhook, also without the webhook', () => {
    const networks =
      'webhook.serviceCIDRs={10.53.0.0/16,fd00:53::/112},webhook.podCIDRs={10.52.0.0/16},webhook.apiServerAddresses={192.168.48.5}';
    for (const [enabled, programs] of [
      ['true', ['run', 'webhook']],
      ['false', ['run']],
    ] as const) {
      const args = rendered({ set: [networks, `webhook.enabled=${enabled}`] })
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ spec }) => spec?.template?.spec.containers[0]?.args ?? []);
      expect(args.map(([command]) => command).toSorted()).toEqual(programs);
      const cidrs = ['--service-cidr=10.53.0.0/16', '--service-cidr=fd00:53::/112', '--pod-cidr=10.52.0.0/16'];
      for (const one of args) expect(one).toEqual(expect.arrayContaining([...cidrs, '--api-server-address=192.168.48.5']));
    }
  });

  it('lists every problem of the values at once', () => {
    const set = ['ingress.enabled=true', 'autoscaling.enabled=true', 'webhook.service.port=1'];
    expect(() => renderChart({ set })).toThrow(/3 problem\(s\) with the values:\n {2}- /);
  });

  it('names the values of Harvester that have no effect, and those of another topology', () => {
    const set = ['ingress.enabled=false', 'autoscaling.enabled=false', 'agent.nodeSelector.a=b'];
    expect(renderNotes({ set })).toContain(
      'These values have no effect here: ingress, autoscaling, agent.nodeSelector (needs agent.topology unified).',
    );
    expect(renderNotes()).not.toContain('no effect');
  });

  it('observes the Prometheus operator only where the cluster has it', () => {
    const monitors = (settings: Parameters<typeof renderChart>[0]) =>
      rendered(settings).flatMap(({ kind }) => (kind.endsWith('Monitor') ? [kind] : []));
    const apiVersions = ['monitoring.coreos.com/v1/ServiceMonitor', 'monitoring.coreos.com/v1/PodMonitor'];
    expect(monitors({})).toEqual([]);
    expect(monitors({ apiVersions })).toEqual(['PodMonitor', 'ServiceMonitor']);
    expect(monitors({ apiVersions, set: ['serviceMonitor.enabled=false', 'podMonitor.enabled=false'] })).toEqual([]);
  });

  it('tells who gets no DHCP replies without agents of pools', () => {
    expect(renderNotes({ set: ['agent.enabled=false'] })).toContain('virtual machines get no DHCP replies.');
    expect(renderNotes({ set: ['agent.enabled=false', 'bareMetal.enabled=true'] })).toContain(
      'virtual machines get no DHCP replies, and bare-metal hosts do.',
    );
  });

  it('observes the agents of ClusterAgents by the labels that the controller gives them', () => {
    const apiVersions = ['monitoring.coreos.com/v1/PodMonitor'];
    const names = (set: readonly string[]) =>
      rendered({ apiVersions, set }).flatMap(({ kind, metadata }) => (kind === 'PodMonitor' ? [metadata.name] : []));
    expect(names([])).not.toContain('vm-dhcp-bare-metal-agents');
    const [monitor] = rendered({ apiVersions, set: ['bareMetal.enabled=true'] }).filter(
      ({ kind, metadata }) => kind === 'PodMonitor' && metadata.name.endsWith('-bare-metal-agents'),
    );
    expect(monitor).toMatchObject({
      metadata: { namespace: 'vm-dhcp-agents' },
      spec: {
        podMetricsEndpoints: [{ port: 'http' }],
        selector: { matchLabels: { 'app.kubernetes.io/component': 'bare-metal-agent' } },
      },
    });
  });

  it('has the alerts only where they are wanted: those of alerts/, without those that are left out, with the labels', () => {
    const rules = (settings: Parameters<typeof renderChart>[0]) => {
      const [rule] = rendered(settings).filter(({ kind }) => kind === 'PrometheusRule') as unknown as readonly RulesObject[];
      return rule?.spec.groups.flatMap((group) => group.rules);
    };
    const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
    expect(rules({ apiVersions })).toBeUndefined();
    expect(rules({ set: ['alerts.enabled=auto'] })).toBeUndefined();
    const { groups } = parse(read('alerts/vmdhcp.rules.yaml')) as RulesObject['spec'];
    const all = groups.flatMap((group) => group.rules);
    expect(rules({ apiVersions, set: ['alerts.enabled=auto'] })).toEqual(all);
    const changed = ['alerts.enabled=true', 'alerts.disabled={VmdhcpPoolExhausted}', 'alerts.ruleLabels.severity=page'];
    const kept = rules({ set: changed }) ?? [];
    expect(kept.map(({ alert }) => alert)).toEqual(
      all.map(({ alert }) => alert).filter((name) => name !== 'VmdhcpPoolExhausted'),
    );
    expect(new Set(kept.map(({ labels }) => labels['severity']))).toEqual(new Set(['page']));
  });

  it('has the dashboards as files only where they are wanted', () => {
    const dashboards = (set: readonly string[]) =>
      rendered({ set }).find(({ kind }) => kind === 'ConfigMap') as
        | { readonly data?: Readonly<Record<string, string>> }
        | undefined;
    expect(dashboards([])).toBeUndefined();
    const { data = {} } = dashboards(['dashboards.enabled=true']) ?? {};
    const files = globSync(join(CHART, 'dashboards/*')).map((path) => [basename(path), readFileSync(path, 'utf8')] as const);
    expect(files.length).toBeGreaterThan(0);
    expect(data).toEqual(Object.fromEntries(files));
  });

  it('keeps the pods of the release within the Pod Security level restricted', () => {
    for (const { kind, metadata, spec } of rendered({}).filter((one) => ['Deployment', 'Pod'].includes(one.kind))) {
      const pod = (spec?.template?.spec ?? spec) as PodSpec;
      expect(pod.securityContext, `${kind} ${metadata.name}`).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext } of pod.containers)
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('adds the capabilities of an agent whatever its security context is', () => {
    const set = ['agent.topology=unified', 'agent.securityContext.capabilities.add={NET_ADMIN,SYS_TIME}'];
    const deployment = rendered({ set }).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'vm-dhcp-controller-agent',
    );
    expect(deployment?.spec?.template?.spec.containers[0]?.securityContext).toMatchObject({
      capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'SYS_TIME', 'NET_BIND_SERVICE', 'NET_RAW'] },
    });
  });

  describe('the page', () => {
    const ofPage = (set: readonly string[]) =>
      JSON.stringify(rendered({ set })).match(/--ui[^"]*|tokenreviews|subjectaccessreviews|page-reader|ui-certificate/g);

    it('is not there by default: no argument, right or object of it', () => {
      expect(ofPage(['networkPolicy.enabled=true', 'agent.topology=unified'])).toBeNull();
    });

    it('listens on a loopback address, and its controller may ask who a token belongs to', () => {
      const found = ofPage(['ui.enabled=true', 'ui.audiences={vmdhcp-page}']);
      expect(found).toEqual(
        expect.arrayContaining(['--ui', '--ui-listen=127.0.0.1:8068', '--ui-audience=vmdhcp-page', 'tokenreviews']),
      );
      expect(found).not.toContain('ui-certificate');
    });

    it('has a Service over HTTPS alone', () => {
      const set = ['ui.enabled=true', 'ui.service.enabled=true', 'ui.certificateSecret=page-tls', 'networkPolicy.enabled=true'];
      expect(ofPage(set)).toEqual(
        expect.arrayContaining(['--ui-listen=:8068', '--ui-tls-directory=/etc/vmdhcp/ui', 'ui-certificate']),
      );
      const objects = rendered({ set });
      const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'vm-dhcp-ui');
      expect(service?.spec).toMatchObject({ ports: [{ name: 'https', port: 443, targetPort: 'ui' }] });
      const policy = objects.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'vm-dhcp-controller');
      expect(JSON.stringify(policy?.spec)).toContain('8068');
    });

    it('readers may list what they see, and nothing else; what the cluster lacks is left out', () => {
      const rulesOf = (set: readonly string[]) => {
        const role = rendered({ set }).find(
          ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'vm-dhcp-page-reader',
        );
        return (role as unknown as { readonly rules: readonly { readonly resources: string[]; readonly verbs: string[] }[] })
          .rules;
      };
      const rules = rulesOf(['ui.enabled=true']);
      expect(rules.flatMap(({ resources }) => resources)).toEqual([
        'ippools',
        'virtualmachinenetworkconfigs',
        'virtualmachines',
        'virtualmachineinstances',
        'network-attachment-definitions',
        'events',
      ]);
      const all = rulesOf(['ui.enabled=true', 'wakeOnLan.enabled=true', 'bareMetal.enabled=true']);
      expect(all.flatMap(({ resources }) => resources)).toEqual(
        expect.arrayContaining(['wolconfigs', 'clusteragents', 'hoststatuses']),
      );
      expect(new Set(all.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list']));
    });
  });

  it.each([
    [[], []],
    [['wakeOnLan.enabled=true'], ['--wake-on-lan']],
    [['bareMetal.enabled=true'], ['--bare-metal']],
    [
      ['wakeOnLan.enabled=true', 'bareMetal.enabled=true'],
      ['--wake-on-lan', '--bare-metal'],
    ],
  ])('with %j the webhook decides about the kinds of %j', (set, flags) => {
    const [args = []] = rendered({ set })
      .map(({ spec }) => spec?.template?.spec.containers[0]?.args ?? [])
      .filter(([command]) => command === 'webhook');
    expect(args.filter((one) => ['--wake-on-lan', '--bare-metal'].includes(one))).toEqual(flags);
  });

  describe('without Wake-on-LAN', () => {
    const ofWakeOnLan = (set: readonly string[]) =>
      JSON.stringify(rendered({ set })).match(
        /wake-on-lan|wol\.pillon\.org|subresources\.kubevirt\.io|daemonsets|vmdhcp-mac-addresses/g,
      );

    it('nothing of it is rendered, whatever the other values are', () => {
      const others = ['networkPolicy.enabled=true', 'podMonitor.enabled=true', 'crds.managedBy=chart', 'agent.topology=unified'];
      expect(ofWakeOnLan(others)).toBeNull();
      expect(ofWakeOnLan([...others, 'wakeOnLan.enabled=true'])).toContain('subresources.kubevirt.io');
    });

    it('what is rendered with it is all of that, and more', () => {
      const nameOf = ({ kind, metadata }: Rendered) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
      const without = new Set(rendered({}).map(nameOf));
      const names = rendered({ set: ['wakeOnLan.enabled=true'] }).map(nameOf);
      expect(names.filter((name) => !without.has(name))).toEqual([
        'ServiceAccount vm-dhcp-agents/vm-dhcp-wake-on-lan-agent',
        'Role vm-dhcp-agents/vm-dhcp-controller-wake-on-lan',
        'RoleBinding vm-dhcp-agents/vm-dhcp-controller-wake-on-lan',
        'Service vm-dhcp-system/vm-dhcp-wake-on-lan',
      ]);
      expect(names).toEqual(expect.arrayContaining([...without]));
    });
  });

  describe('without bare-metal hosts', () => {
    const nameOf = ({ kind, metadata }: Rendered) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

    it('nothing of them is rendered, whatever the other values are', () => {
      const others = ['networkPolicy.enabled=true', 'podMonitor.enabled=true', 'crds.managedBy=chart', 'wakeOnLan.enabled=true'];
      const ofHosts = (set: readonly string[]) => JSON.stringify(rendered({ set })).match(/bare-metal|bmc\.spidernet\.io/g);
      expect(ofHosts(others)).toBeNull();
      expect(ofHosts([...others, 'bareMetal.enabled=true'])).toContain('bmc.spidernet.io');
    });

    it('what is rendered with them is all of that, the rights of their agents, and a Role in each namespace with agents or Secrets', () => {
      const without = new Set(rendered({}).map(nameOf));
      const names = rendered({ set: ['bareMetal.enabled=true', 'bareMetal.secretNamespaces={bmc}'] }).map(nameOf);
      expect(names.filter((name) => !without.has(name))).toEqual([
        'ClusterRole /vmdhcp-bare-metal-agent',
        'ClusterRoleBinding /vmdhcp-bare-metal-agents',
        'Role vm-dhcp-agents/vm-dhcp-controller-bare-metal',
        'Role bmc/vm-dhcp-controller-bare-metal',
        'RoleBinding vm-dhcp-agents/vm-dhcp-controller-bare-metal',
        'RoleBinding bmc/vm-dhcp-controller-bare-metal',
        'ValidatingAdmissionPolicy /vmdhcp-bare-metal-agents',
        'ValidatingAdmissionPolicyBinding /vmdhcp-bare-metal-agents',
      ]);
      expect(names).toEqual(expect.arrayContaining([...without]));
    });

    it.each([
      ['1.29.9', undefined],
      ['1.30.0', "request.userInfo.username.startsWith('system:serviceaccount:racks:agent-') substring(34)"],
      ['1.36.2', "request.userInfo.username.startsWith('system:serviceaccount:racks:agent-') substring(34)"],
    ])('on Kubernetes %s the policy for agents names their ServiceAccounts in their namespace: %s', (kubeVersion, expected) => {
      const objects = rendered({ set: ['bareMetal.enabled=true', 'agent.namespace=racks'], kubeVersion });
      const text = JSON.stringify(objects.find(({ kind }) => kind === 'ValidatingAdmissionPolicy'));
      const [starts] = /request\.userInfo\.username\.startsWith\([^)]*\)/.exec(text ?? '') ?? [];
      const [substring] = /substring\(\d+\)/.exec(text ?? '') ?? [];
      expect(text && `${starts} ${substring}`).toBe(expected);
      expect('system:serviceaccount:racks:agent-'.length).toBe(34);
    });

    it('the policy for agents is there also where an administrator writes the rights', () => {
      const kinds = rendered({ set: ['bareMetal.enabled=true', 'rbac.create=false'] }).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind.startsWith('Validating') || kind.startsWith('ClusterRole'))).toEqual([
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
      ]);
    });

    it('Secrets of the namespace of the agents are read only where that namespace is allowed', () => {
      const readsSecrets = (set: readonly string[]) =>
        rendered({ set: ['bareMetal.enabled=true', ...set] })
          .filter(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-bare-metal'))
          .filter((role) => JSON.stringify(role).includes('"secrets"'))
          .map(({ metadata }) => metadata.namespace);
      expect(readsSecrets([])).toEqual(['vm-dhcp-agents']);
      expect(readsSecrets(['bareMetal.secretNamespaces={bmc}'])).toEqual(['bmc']);
    });
  });

  describe('on OpenShift', () => {
    const OPENSHIFT = ['security.openshift.io/v1'];
    const everything = ['wakeOnLan.enabled=true', 'bareMetal.enabled=true'];
    const ofOpenShift = (settings: Parameters<typeof renderChart>[0]) =>
      rendered(settings).filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'openshift');
    const constraintsOf = (...set: readonly string[]) =>
      ofOpenShift({ set, apiVersions: OPENSHIFT })
        .filter(({ kind }) => kind === 'SecurityContextConstraints')
        .map(({ metadata }) => metadata.name);

    it('each kind of agents that is switched on has constraints of its own', () => {
      expect(constraintsOf()).toEqual(['vm-dhcp-agent']);
      expect(constraintsOf(...everything)).toEqual(['vm-dhcp-agent', 'vm-dhcp-wake-on-lan-agent', 'vm-dhcp-bare-metal-agent']);
      expect(constraintsOf('agent.enabled=false')).toEqual([]);
    });

    it('constraints allow what is written here, and nothing else', () => {
      const allowed = (set: readonly string[], of: string) => {
        const found = renderChart({ set: [...everything, ...set], apiVersions: OPENSHIFT }) as unknown as readonly Rendered[];
        const one = found.find(({ kind, metadata }) => kind === 'SecurityContextConstraints' && metadata.name === of);
        const { apiVersion, kind, metadata, ...fields } = { apiVersion: '', ...one };
        expect(`${apiVersion} ${kind} ${metadata?.name}`).toBe(`security.openshift.io/v1 SecurityContextConstraints ${of}`);
        return fields;
      };
      const inPod = {
        ...{ allowHostNetwork: false, allowHostPorts: false, allowHostPID: false, allowHostIPC: false },
        ...{ allowHostDirVolumePlugin: false, allowPrivilegedContainer: false, allowPrivilegeEscalation: false },
        ...{ defaultAllowPrivilegeEscalation: false, readOnlyRootFilesystem: true, priority: 0, users: [], groups: [] },
        allowedCapabilities: ['NET_ADMIN', 'NET_RAW', 'NET_BIND_SERVICE'],
        ...{ requiredDropCapabilities: ['ALL'], defaultAddCapabilities: [] },
        ...{ runAsUser: { type: 'MustRunAsNonRoot' }, seLinuxContext: { type: 'MustRunAs' } },
        fsGroup: { type: 'MustRunAs', ranges: [{ min: 65_532, max: 65_532 }] },
        ...{ supplementalGroups: { type: 'RunAsAny' }, seccompProfiles: ['runtime/default'] },
        volumes: ['projected', 'downwardAPI'],
      };
      const onNode = { ...inPod, allowHostNetwork: true, allowHostPorts: true };
      const wake = { ...onNode, allowedCapabilities: ['NET_RAW', 'NET_BIND_SERVICE'], volumes: ['secret'] };
      const hosts = 'vm-dhcp-bare-metal-agent';
      expect(allowed([], 'vm-dhcp-agent')).toEqual(inPod);
      expect(allowed([], 'vm-dhcp-wake-on-lan-agent')).toEqual(wake);
      expect(allowed(['wakeOnLan.clearText=true'], 'vm-dhcp-wake-on-lan-agent')).toEqual({ ...wake, volumes: [] });
      expect(allowed([], hosts)).toEqual(onNode);
      const inVolume = { ...onNode, volumes: [...onNode.volumes, 'persistentVolumeClaim'] };
      expect(allowed(['bareMetal.leases.type=pvc'], hosts)).toEqual(inVolume);
      expect(allowed(['bareMetal.leases.type=host-path'], hosts)).toEqual({
        ...{ ...onNode, allowHostDirVolumePlugin: true, runAsUser: { type: 'RunAsAny' } },
        volumes: [...onNode.volumes, 'hostPath'],
      });
    });

    it('there is nothing of it where the cluster has no such API, or the values say so; and all of it where they say that', () => {
      expect(ofOpenShift({ set: everything })).toEqual([]);
      expect(ofOpenShift({ set: [...everything, 'openshift.enabled=false'], apiVersions: OPENSHIFT })).toEqual([]);
      expect(ofOpenShift({ set: [...everything, 'openshift.enabled=true'] })).toEqual(
        ofOpenShift({ set: everything, apiVersions: OPENSHIFT }),
      );
    });

    it('nobody may change constraints, and the controller may use none of those of the agents', () => {
      const roles = rendered({ set: everything, apiVersions: OPENSHIFT }) as unknown as readonly {
        readonly metadata: { readonly name: string };
        readonly rules?: readonly { readonly apiGroups: string[]; readonly verbs: string[]; readonly resourceNames?: string[] }[];
      }[];
      const rights = roles.flatMap(({ metadata, rules = [] }) =>
        rules
          .filter(({ apiGroups }) => apiGroups.includes('security.openshift.io'))
          .map(({ verbs, resourceNames }) => `${metadata.name}: ${verbs.join()} ${resourceNames?.join()}`),
      );
      expect(rights.toSorted()).toEqual([
        'vm-dhcp-agent: use vm-dhcp-agent',
        'vm-dhcp-nonroot: use nonroot-v2',
        'vm-dhcp-wake-on-lan-agent: use vm-dhcp-wake-on-lan-agent',
        'vmdhcp-bare-metal-agent: use vm-dhcp-bare-metal-agent',
      ]);
    });

    it('gives no ServiceAccount of Wake-on-LAN agents a right of Kubernetes, only the use of their constraints', () => {
      const bindings = rendered({ set: everything, apiVersions: OPENSHIFT }).filter(
        (one) => one.kind.endsWith('Binding') && JSON.stringify(one).includes('"name":"vm-dhcp-wake-on-lan-agent","namespace"'),
      );
      expect(bindings.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['RoleBinding vm-dhcp-wake-on-lan-agent']);
    });
  });

  it('lets reports of agents in from the nodes that the values name, and from everywhere where they name none', () => {
    const portsOf = (...more: readonly string[]) => {
      const set = ['networkPolicy.enabled=true', 'wakeOnLan.enabled=true', ...more];
      const policy = rendered({ set }).find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'vm-dhcp-controller',
      );
      const { ingress = [] } = (policy?.spec ?? {}) as unknown as {
        readonly ingress?: readonly { readonly ports: readonly { port: number }[] }[];
      };
      return ingress.find(({ ports }) => ports[0]?.port === 9090);
    };
    expect(portsOf()).toEqual({ ports: [{ protocol: 'TCP', port: 9090 }] });
    expect(portsOf('networkPolicy.nodeCIDRs={192.168.0.0/24}')).toMatchObject({
      from: [{ ipBlock: { cidr: '192.168.0.0/24' } }],
    });
  });

  it('durations of the election that the controller takes are accepted', () => {
    const set = ['leaseDuration=1m30s', 'renewDeadline=1m', 'retryPeriod=49s'].map((one) => `leaderElection.${one}`);
    expect(rendered({ set })).not.toEqual([]);
  });

  describe('NetworkPolicies', () => {
    const policiesFor = (labels: Readonly<Record<string, string>>, namespace: string, ...set: readonly string[]) =>
      rendered({ set: ['networkPolicy.enabled=true', ...set] }).filter(({ kind, metadata, spec }) => {
        if (kind !== 'NetworkPolicy' || metadata.namespace !== namespace) return false;
        const { matchLabels = {}, matchExpressions = [] } = (spec as unknown as { podSelector: Selector }).podSelector;
        return (
          Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
          matchExpressions.every(({ key, operator }) => operator === 'Exists' && key in labels)
        );
      });
    interface Selector {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly { readonly key: string; readonly operator: string }[];
    }

    it('agents of ClusterAgents reach the API server and management controllers, with or without agents of pools', () => {
      const labels = { 'bmc.spidernet.io/cluster-agent': 'rack-1', 'app.kubernetes.io/component': 'bare-metal-agent' };
      for (const more of [[], ['agent.enabled=false']]) {
        const policies = policiesFor(labels, 'vm-dhcp-agents', 'bareMetal.enabled=true', ...more);
        expect(policies.map(({ spec }) => (spec as unknown as { egress: unknown }).egress)).toEqual([[{}]]);
      }
      expect(policiesFor(labels, 'vm-dhcp-agents')).toEqual([]);
    });

    it('the pod of helm test reaches what it asks', () => {
      const pod = rendered({}).find(({ kind }) => kind === 'Pod');
      const policies = policiesFor(pod?.metadata.labels ?? {}, 'vm-dhcp-system');
      const ports = policies.flatMap(({ spec }) =>
        (spec as unknown as { egress: { ports: { port: number }[] }[] }).egress.flatMap((one) =>
          one.ports.map(({ port }) => port),
        ),
      );
      expect(new Set(ports)).toEqual(new Set([8080, 53]));
    });
  });

  it.each(Object.keys(MANIFESTS))('manifests/%s is what `npm run generate` writes', (file) => {
    expect(read(`manifests/${file}`)).toBe(renderManifest(file));
  });
});

const TEXT = /(^|\.)(labels|matchLabels|annotations)\.|\.(name|namespace|value|serviceAccountName|priorityClassName|image)$/;

/** What an API server would refuse or understand otherwise: null, text that is none, arguments and numbers that are empty. */
function oddities(value: unknown, path = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, one]) => oddities(one, `${path}.${key}`));
  const isEmpty =
    typeof value === 'string' && (value.includes('<no value>') || /^--[a-z-]+=0?$/.test(value) || value.startsWith(':'));
  const isAllowed = value === '--agent-priority-class=';
  const isZero = /\.(replicas|port|containerPort)$/.test(path) && value === 0;
  const isWrong = value === null || (isEmpty && !isAllowed) || isZero || (TEXT.test(path) && typeof value !== 'string');
  return isWrong ? [`${path}: ${JSON.stringify(value)}`] : [];
}

describe('values.schema.json', () => {
  const schema = JSON.parse(read('charts/vmdhcp/values.schema.json')) as Schema;
  const described = describeValues().map(({ path }) => path);
  /** Accepted, and without a default. */
  const extra = ['global', 'enabled', 'ingress', 'autoscaling'];

  it('knows each value that values.yaml describes, and no others', () => {
    const known = pathsOf({ schema, root: schema, path: '', described });
    expect(known.filter((path) => !extra.includes(path))).toEqual(described.toSorted());
  });

  it('values.yaml describes each value', () => {
    const isDescribed = (path: string) => described.some((one) => path === one || path.startsWith(`${one}.`));
    expect(leavesOf(parse(read('charts/vmdhcp/values.yaml'))).filter((path) => !isDescribed(path))).toEqual([]);
  });
});

describe('what follows from other files (npm run generate)', () => {
  it.each(globSync(join(ROOT, 'packages/ippool-api/crds/*.yaml')).map((path) => basename(path)))('the chart has %s', (name) => {
    expect(read(`charts/vmdhcp/files/crds/${name}`)).toBe(read(`packages/ippool-api/crds/${name}`));
  });

  it.each(globSync(join(ROOT, 'packages/ippool-api/crds/bare-metal/*.yaml')).map((path) => basename(path)))(
    'the chart has the definition of bare-metal hosts %s',
    (name) => {
      expect(read(`charts/vmdhcp/files/crds/bare-metal.${name}`)).toBe(read(`packages/ippool-api/crds/bare-metal/${name}`));
    },
  );

  it('the chart has the version of the packages', () => {
    const { version } = JSON.parse(read('packages/controller-cli/package.json')) as { version: string };
    expect(parseDocument(read('charts/vmdhcp/Chart.yaml')).toJS()).toMatchObject({ version, appVersion: version });
  });
});

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

interface Walk {
  readonly schema: Schema;
  readonly root: Schema;
  readonly path: string;
  /** Here the walk ends. */
  readonly described: readonly string[];
}

/** The values of a schema, as in `--set`. */
function pathsOf({ schema, root, path, described }: Walk): string[] {
  const name = schema.$ref?.split('/').at(-1);
  const { properties } = name === undefined ? schema : (root.definitions?.[name] ?? {});
  if (properties === undefined || described.includes(path) || ['ingress', 'autoscaling'].includes(path)) return [path];
  return Object.entries(properties)
    .flatMap(([key, one]) => pathsOf({ schema: one, root, path: path === '' ? key : `${path}.${key}`, described }))
    .toSorted();
}

function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, path === '' ? key : `${path}.${key}`));
}
