import { explainRival, NOTHING_RECORDED, planAssignments, type RefusedClaim } from '@vmdhcp/reconciler/plan-assignments';
import type { Finding } from './finding.js';
import type { ConfiguredClaim, ConfiguredPool, PoolsFile } from './parse-pools-file.js';

/** The claims of a file that cannot be fulfilled if nothing is assigned yet: each names its rival if it has one. */
export function findRefusedClaims({ pools }: PoolsFile): Finding[] {
  return [...pools.values()].flatMap((configured) => {
    const { pool, claims } = configured;
    const { refused } = planAssignments(pool, claims, { recorded: NOTHING_RECORDED, nowMs: 0 });
    return refused.map((refusal) => toFinding(refusal, configured));
  });
}

function toFinding(refusal: RefusedClaim, configured: ConfiguredPool): Finding {
  // Of several claims of one owner to one MAC address, only the first is fulfilled.
  const claim = configured.claims.findLast(
    ({ owner, macAddress }) => owner === refusal.owner && macAddress === refusal.macAddress,
  );
  const { line = 1, column = 1 } = claim ?? {};
  const object = claim === undefined ? `IPPool ${configured.pool.name}` : `VirtualMachineNetworkConfig ${refusal.owner}`;
  const path = claim === undefined ? 'spec.ipv4Config.reservations' : `spec.networkConfigs[${claim.index}]`;
  return { line, column, object, path, message: describeRefusal(refusal, claim, configured) };
}

function describeRefusal(
  { reason, message }: RefusedClaim,
  claim: ConfiguredClaim | undefined,
  { claims }: ConfiguredPool,
): string {
  if (reason !== 'address-taken' || claim?.wanted === undefined) return message;
  const { wanted, macAddress } = claim;
  const rival = claims.find((other) => other.wanted === wanted && other.macAddress !== macAddress);
  if (rival === undefined) return message;
  const explained = explainRival(wanted, rival);
  return `${explained.message}; ${explained.remedy}`;
}
