import { ALLOW_DELETION_ANNOTATION } from '@vmdhcp/ippool-api';
import { describeCount, describeNames } from '@vmdhcp/kube-runtime';
import type { PoolView } from '../view/pool-views.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionRequest, type AdmissionReview, ALLOWED, keyOfRequest, toReview } from './admission-review.js';

/**
 * Refuses to delete a pool that virtual machines use, unless its annotation allows it. A useless pool (invalid, or its network is served by another
 * one) can be deleted, as messages about it recommend.
 */
export function reviewDeletion(request: AdmissionRequest, facts: AdmissionFacts): AdmissionReview {
  const key = keyOfRequest(request);
  const known = facts.pool(key);
  const annotations = (request.oldObject ?? known?.object)?.metadata.annotations;
  if (known === undefined || annotations?.[ALLOW_DELETION_ANNOTATION] === 'true') return ALLOWED;
  const users = usersOf(known, facts);
  if (users.length === 0) return ALLOWED;
  const many = describeCount(users.length, 'virtual machine uses', 'virtual machines use');
  const message = `${many} the IPPool: ${describeNames(users.toSorted())}`;
  const remedy = `delete them or detach them from network ${known.network} first; to take the IPPool away from them, annotate it ${ALLOW_DELETION_ANNOTATION}="true": they keep their addresses if an IPPool for the network is created again`;
  return toReview({
    problems: [{ reason: 'pool-in-use', path: [], value: key, message, remedy, dependsOnOthers: true }],
    warnings: [],
  });
}

/** Keys of the VirtualMachineNetworkConfigs that claim an address of the pool. */
function usersOf({ key, network, reading }: PoolView, facts: AdmissionFacts): string[] {
  if (!reading.ok || facts.servingPool(network)?.key !== key) return [];
  return [...facts.claimsOn(network)].flatMap(({ key: config, claims }) =>
    claims.some((claim) => claim.network === network) ? [config] : [],
  );
}
