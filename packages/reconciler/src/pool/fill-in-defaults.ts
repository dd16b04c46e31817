import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { isRecord, readField } from '@vmdhcp/kube-runtime';
import { type PoolDefaults, planPoolDefaults } from './plan-pool-defaults.js';

/**
 * Fills in the optional fields of an IPPool that a person wrote. Everything else, and any other kind, is returned unchanged; validation reports
 * fields that cannot be filled in.
 *
 * @param avoided - addresses that the server must not have.
 */
export function fillInDefaults(value: unknown, avoided: readonly Ipv4Address[] = []): unknown {
  const ipv4Config = readField(value, 'spec', 'ipv4Config');
  if (!isRecord(value) || value['kind'] !== 'IPPool' || !isRecord(ipv4Config)) return value;
  const defaults = planPoolDefaults(ipv4Config, avoided);
  return defaults.ok ? withDefaults(value, ipv4Config, defaults) : value;
}

type Fields = Readonly<Record<string, unknown>>;

function withDefaults(value: Fields, ipv4Config: Fields, defaults: Extract<PoolDefaults, { readonly ok: true }>): Fields {
  const { hasEmptyRouter, settings, pool } = defaults;
  if (!hasEmptyRouter && Object.keys({ ...settings, ...pool }).length === 0) return value;
  const { router: _, ...withoutRouter } = ipv4Config;
  const former = isRecord(ipv4Config['pool']) ? ipv4Config['pool'] : {};
  const filled = { ...(hasEmptyRouter ? withoutRouter : ipv4Config), ...settings, pool: { ...former, ...pool } };
  return { ...value, spec: { ...(value['spec'] as Fields), ipv4Config: filled } };
}
