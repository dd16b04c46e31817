import type { ReasonAt, WordOf } from '@vmdhcp/ippool-api';

/** Why an interface has no address, or not the one that it wants: a reason of the condition Allocated, spelled as in plans. */
export type RefusalReason = WordOf<ReasonAt<'VirtualMachineNetworkConfig Allocated=False'>>;
