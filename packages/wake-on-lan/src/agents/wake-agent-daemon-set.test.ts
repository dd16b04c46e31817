import { readField, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { sharePorts } from '../config/share-ports.js';
import { AGENT_SETTINGS, readConfig } from '../config/wol-config-fixtures.js';
import { toWakeAgentDaemonSet, wakeAgentName } from './wake-agent-daemon-set.js';

function daemonSetOf(spec: Readonly<Record<string, unknown>>, settings = AGENT_SETTINGS) {
  const config = readConfig('office', spec);
  const listening = sharePorts([config]).get('office');
  if (listening === undefined) throw new Error('not planned');
  const object = toWakeAgentDaemonSet({ config, listening, httpPort: 18_420 }, settings);
  const pod = readField(object.spec, 'template', 'spec') as Readonly<Record<string, unknown>>;
  return { object, pod, container: readList(pod, 'containers')[0] as Readonly<Record<string, unknown>> };
}

describe('the DaemonSet of a WolConfig', () => {
  const { object, pod, container } = daemonSetOf({ wolPorts: [9, 7] });

  it('has the name, the labels and the owner of the predecessor, and selects by app and WolConfig only', () => {
    expect(object.metadata).toMatchObject({ namespace: 'vm-dhcp-system', name: 'wol-agent-office' });
    expect(object.metadata.labels).toEqual({
      app: 'wol-agent',
      'app.kubernetes.io/name': 'wol-agent',
      'app.kubernetes.io/component': 'agent',
      'app.kubernetes.io/part-of': 'kubevirt-wol',
      'app.kubernetes.io/managed-by': 'kubevirt-wol-controller',
      'wol.pillon.org/wolconfig': 'office',
    });
    expect(object.metadata.ownerReferences).toMatchObject([{ kind: 'WolConfig', name: 'office', controller: true }]);
    expect(readField(object.spec, 'selector')).toEqual({
      matchLabels: { app: 'wol-agent', 'wol.pillon.org/wolconfig': 'office' },
    });
    expect(readField(object.spec, 'template', 'metadata', 'labels')).toEqual(object.metadata.labels);
  });

  it('is on the network of the node, without root, without a token, with two capabilities', () => {
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet', automountServiceAccountToken: false });
    expect(container['securityContext']).toEqual({
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_RAW', 'NET_BIND_SERVICE'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('runs `vmdhcp-agent wol` with the settings of the WolConfig', () => {
    expect(container['args']).toEqual([
      ...['wol', '--manager', 'vmdhcp-wake-on-lan.vm-dhcp-system.svc:9090', '--tls-dir', '/etc/vmdhcp/wake-on-lan'],
      ...['--node-name', '$(NODE_NAME)', '--port', '9', '--port', '7', '--http', '$(POD_IP):18420'],
    ]);
    const names = readList(container, 'env').map((one) => readField(one, 'name'));
    expect(names).toEqual(['NODE_NAME', 'POD_NAMESPACE', 'POD_IP', 'WOLCONFIG_NAME']);
    expect(pod['volumes']).toEqual([{ name: 'tls', secret: { secretName: 'vmdhcp-wake-on-lan-agent-tls', defaultMode: 0o440 } }]);
    expect(pod['securityContext']).toEqual({ fsGroup: 65_532 });
  });

  it('has the defaults of the predecessor', () => {
    expect(container).toMatchObject({
      image: 'registry.local/vmdhcp-agent:1',
      imagePullPolicy: 'IfNotPresent',
      resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '192Mi' } },
    });
    expect(pod['tolerations']).toEqual([
      { operator: 'Exists', effect: 'NoSchedule' },
      { operator: 'Exists', effect: 'NoExecute' },
    ]);
    expect(pod['terminationGracePeriodSeconds']).toBe(10);
    expect(readField(object.spec, 'updateStrategy')).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } });
    expect([pod['nodeSelector'], pod['priorityClassName']]).toEqual([undefined, undefined]);
  });

  it('has the settings of the WolConfig', () => {
    const set = daemonSetOf({
      passwordSecret: { name: 'wol', key: 'password' },
      agent: {
        image: 'other:2',
        imagePullPolicy: 'Always',
        nodeSelector: { zone: 'a' },
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
        priorityClassName: 'system-node-critical',
        resources: { requests: { cpu: 1 } },
        updateStrategy: { type: 'OnDelete' },
        interfaces: ['mgmt-*', '!*.100'],
        promiscuous: true,
        frames: false,
      },
    });
    expect(set.container).toMatchObject({ image: 'other:2', imagePullPolicy: 'Always', resources: { requests: { cpu: 1 } } });
    expect(set.container['args']).toEqual(
      expect.arrayContaining(['--interface', 'mgmt-*', '--interface', '!*.100', '--promiscuous', '--no-frames']),
    );
    expect(readList(set.container, 'env').slice(-2)).toEqual([
      { name: 'VMDHCP_WOL_PASSWORD', valueFrom: { secretKeyRef: { name: 'wol', key: 'password' } } },
      { name: 'VMDHCP_WOL_PASSWORD_SECRET', value: 'wol/password' },
    ]);
    expect(set.pod).toMatchObject({
      nodeSelector: { zone: 'a' },
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      priorityClassName: 'system-node-critical',
    });
    expect(readField(set.object.spec, 'updateStrategy')).toEqual({ type: 'OnDelete', rollingUpdate: undefined });
  });

  it('reports in clear text if there is no certificate, and names the Secrets by which its image is pulled', () => {
    const clear = daemonSetOf({}, { ...AGENT_SETTINGS, tlsSecret: undefined, imagePullSecrets: ['registry'] });
    expect(clear.container['args']).toContain('--clear-text');
    expect([clear.pod['volumes'], clear.container['volumeMounts']]).toEqual([undefined, undefined]);
    expect(clear.pod['imagePullSecrets']).toEqual([{ name: 'registry' }]);
  });

  it('uses the requested ServiceAccount, without its token, and otherwise the default one', () => {
    const named = daemonSetOf({}, { ...AGENT_SETTINGS, serviceAccountName: 'listener' }).pod;
    expect(named).toMatchObject({
      serviceAccountName: 'listener',
      serviceAccount: 'listener',
      automountServiceAccountToken: false,
    });
    expect(daemonSetOf({}).pod).toMatchObject({ serviceAccountName: undefined, automountServiceAccountToken: false });
  });

  it('has a name with a hash if the name of its WolConfig is too long for a label', () => {
    const [one, other] = ['a', 'b'].map((end) => wakeAgentName(`${'x'.repeat(80)}${end}`));
    expect(one).toMatch(/^wol-agent-x{54}-[0-9a-f]{8}$/);
    expect(one).not.toBe(other);
    expect(wakeAgentName('my.office')).toBe('wol-agent-my.office');
  });
});
