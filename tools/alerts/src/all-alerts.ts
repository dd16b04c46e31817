import type { Alert } from './alert.js';
import { addressConflict } from './alerts/address-conflict.js';
import { agentReplicasMissing } from './alerts/agent-replicas-missing.js';
import { agentServesNotAllPools } from './alerts/agent-serves-not-all-pools.js';
import { apiRequestsFail } from './alerts/api-requests-fail.js';
import { apiServerSlow } from './alerts/api-server-slow.js';
import { auditNotStored } from './alerts/audit-not-stored.js';
import { auditRecordsLost } from './alerts/audit-records-lost.js';
import { certificateExpires } from './alerts/certificate-expires.js';
import { claimsRefused } from './alerts/claims-refused.js';
import { clientsRefused } from './alerts/clients-refused.js';
import { controllerBehind } from './alerts/controller-behind.js';
import { hostAgentsNotReady } from './alerts/host-agents-not-ready.js';
import { hostOperationsFail } from './alerts/host-operations-fail.js';
import { hostRangeExhausted } from './alerts/host-range-exhausted.js';
import { hostUnhealthyLong } from './alerts/host-unhealthy-long.js';
import { hostsUnhealthy } from './alerts/hosts-unhealthy.js';
import { interfaceWithoutAddress } from './alerts/interface-without-address.js';
import { leaderChangesOften } from './alerts/leader-changes-often.js';
import { leasesNotRecorded } from './alerts/leases-not-recorded.js';
import { noControllerLeads } from './alerts/no-controller-leads.js';
import { openPoolExhausted } from './alerts/open-pool-exhausted.js';
import { poolAlmostFull } from './alerts/pool-almost-full.js';
import { poolExhausted } from './alerts/pool-exhausted.js';
import { poolFillsUp } from './alerts/pool-fills-up.js';
import { poolNotServed } from './alerts/pool-not-served.js';
import { reconcilesFail } from './alerts/reconciles-fail.js';
import { repliesLost } from './alerts/replies-lost.js';
import { rogueServer } from './alerts/rogue-server.js';
import { standbyAnswers } from './alerts/standby-answers.js';
import { takeoverSlow } from './alerts/takeover-slow.js';
import { wakeAgentDisconnected } from './alerts/wake-agent-disconnected.js';
import { wakeListenerDead } from './alerts/wake-listener-dead.js';
import { wakeUpsFail } from './alerts/wake-ups-fail.js';
import { wakeUpsLost } from './alerts/wake-ups-lost.js';
import { webhookFails } from './alerts/webhook-fails.js';

/** All alerts, in the order in which pages list them. */
export const ALERTS: readonly Alert[] = [
  poolExhausted,
  poolAlmostFull,
  poolFillsUp,
  interfaceWithoutAddress,
  poolNotServed,
  rogueServer,
  addressConflict,
  agentReplicasMissing,
  agentServesNotAllPools,
  standbyAnswers,
  takeoverSlow,
  leaderChangesOften,
  clientsRefused,
  repliesLost,
  openPoolExhausted,
  leasesNotRecorded,
  claimsRefused,
  noControllerLeads,
  controllerBehind,
  reconcilesFail,
  apiServerSlow,
  apiRequestsFail,
  webhookFails,
  certificateExpires,
  auditNotStored,
  auditRecordsLost,
  wakeAgentDisconnected,
  wakeListenerDead,
  wakeUpsFail,
  wakeUpsLost,
  hostAgentsNotReady,
  hostRangeExhausted,
  hostsUnhealthy,
  hostUnhealthyLong,
  hostOperationsFail,
];
