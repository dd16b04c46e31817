import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { takeCapabilities } from './take-capabilities.js';

function set(name: 'CapPrm' | 'CapEff'): bigint {
  const digits = new RegExp(`^${name}:\\s+([0-9a-f]+)`, 'm').exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1];
  return BigInt(`0x${digits}`);
}

describe('capabilities', () => {
  it('that are permitted become effective; the others are returned', () => {
    const permitted = set('CapPrm');
    const missing = takeCapabilities(['NET_BIND_SERVICE', 'NET_ADMIN', 'NET_RAW']);
    const bits = { NET_BIND_SERVICE: 1n << 10n, NET_ADMIN: 1n << 12n, NET_RAW: 1n << 13n };
    expect(missing).toEqual(Object.entries(bits).flatMap(([name, bit]) => ((permitted & bit) === 0n ? [name] : [])));
    expect(set('CapEff') & (bits.NET_BIND_SERVICE | bits.NET_ADMIN | bits.NET_RAW)).toBe(
      permitted & (bits.NET_BIND_SERVICE | bits.NET_ADMIN | bits.NET_RAW),
    );
  });

  it('that are not permitted are returned by name', () => {
    const code = `
      const { takeCapabilities } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
      console.log(JSON.stringify(takeCapabilities(['NET_ADMIN', 'NET_RAW'])));`;
    const parameters = ['--bounding-set=-all', '--inh-caps=-all', '--', process.execPath, '--input-type=module', '-e', code];
    const wrapper = process.getuid?.() === 0 ? ['setpriv', ...parameters] : parameters.slice(3);
    const [command = '', ...rest] = wrapper;
    expect(JSON.parse(execFileSync(command, rest, { encoding: 'utf8' }))).toEqual(['NET_ADMIN', 'NET_RAW']);
  });
});
