import type { PoolProblemReason } from '@vmdhcp/dhcp-allocator';
import type { ObjectProblemReason } from '@vmdhcp/ippool-api';

/** The possible problems of an IPPool by itself. */
export type PoolReason =
  | PoolProblemReason
  | ObjectProblemReason
  | 'ipv4-config-missing'
  | 'not-a-time-server'
  | 'lease-time-impossible'
  | 'subnet-too-small'
  | 'ipv6-server-is-client';
