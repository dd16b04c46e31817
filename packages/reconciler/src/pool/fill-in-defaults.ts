import { isRecord } from '@vmdhcp/kube-runtime';
import { planPoolDefaults } from './plan-pool-defaults.js';

/**
 * An IPPool as a person writes it, with what may be left out filled in. Everything else, and any other kind, is returned as it is;
 * validation reports what cannot be filled in.
 */
export function fillInDefaults(value: unknown): unknown {
  if (!isRecord(value) || value['kind'] !== 'IPPool' || !isRecord(value['spec'])) return value;
  const { ipv4Config } = value['spec'];
  const defaults = planPoolDefaults(ipv4Config);
  if (!isRecord(ipv4Config) || !defaults.ok) return value;
  const { hasEmptyRouter, pool, ...fields } = defaults;
  const { router: _, ...withoutRouter } = ipv4Config;
  const given = hasEmptyRouter ? withoutRouter : ipv4Config;
  if (!hasEmptyRouter && Object.keys({ ...fields.settings, ...pool }).length === 0) return value;
  const formerPool = isRecord(ipv4Config['pool']) ? ipv4Config['pool'] : {};
  const filled = { ...given, ...fields.settings, pool: { ...formerPool, ...pool } };
  return { ...value, spec: { ...value['spec'], ipv4Config: filled } };
}
