import { describe, expect, it } from 'vitest';
import { clusterAgent, ip } from './hosts-fixtures.js';
import { SettingsInForce } from './settings-in-force.js';

function settings() {
  const lines: string[] = [];
  const note = (...parts: unknown[]) => void lines.push(String(parts.at(-1)));
  return { lines, settings: new SettingsInForce({ info: note, warn: note } as never) };
}

describe('settings of a ClusterAgent in force', () => {
  it('change with it, with one line for each change', () => {
    const { lines, settings: followed } = settings();
    followed.update(clusterAgent(), []);
    const first = followed.current;
    followed.update({ ...clusterAgent(), status: { ready: true } }, []);
    expect(followed.current).toBe(first);
    followed.update(clusterAgent({ ipRange: '10.0.0.30-10.0.0.39' }), []);
    expect(followed.current?.pool.dynamic[0]?.first).toBe(ip('10.0.0.30'));
    expect(lines).toEqual(Array(2).fill('settings of the ClusterAgent are in effect'));
  });

  it('stay when the object is changed to settings that cannot be served', () => {
    const { settings: followed } = settings();
    followed.update(clusterAgent(), []);
    const { current } = followed;
    followed.update(clusterAgent({ subnet: 'x' }), []);
    expect([followed.reading?.kind, followed.current]).toEqual(['unserved', current]);
  });

  it.each([
    ['is deleted', undefined],
    [
      'has DHCP switched off',
      { ...clusterAgent(), spec: { agentYaml: { underlayInterface: 'a' }, feature: { enableDhcpServer: false } } },
    ],
  ])('end when it %s', (_, object) => {
    const { settings: followed } = settings();
    followed.update(clusterAgent(), []);
    followed.update(object, []);
    expect(followed.current).toBeUndefined();
  });

  it('follow the address of the interface if selfIp is not set', () => {
    const { settings: followed } = settings();
    for (const last of [5, 6])
      followed.update(clusterAgent({ selfIp: undefined }), [{ address: ip(`10.0.0.${last}`), prefixLength: 24 }]);
    expect(followed.current?.pool.serverAddress).toBe(ip('10.0.0.6'));
  });
});
