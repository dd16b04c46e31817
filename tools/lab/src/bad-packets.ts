/**
 * Packets that no honest client sends, and their outcome: the corpus of odd packets, which a unit test replays too. The server is 192.168.48.2, the
 * good client is 02:00:00:00:48:01 at 192.168.48.10, and 192.168.48.11 belongs to another client.
 */
import { readFileSync } from 'node:fs';

export interface BadPacket {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** `dropped REASON`, or `TYPE OUTCOME REASON`, in the words of the metrics. */
  readonly outcome: string;
}

const CORPUS = new URL('../../../packages/dhcp-allocator/src/wire/fixtures/odd-packets.json', import.meta.url);
const entries = JSON.parse(readFileSync(CORPUS, 'utf8')) as { name: string; hex: string; outcome: string }[];

export const BAD_PACKETS: readonly BadPacket[] = entries.map(({ hex, ...entry }) => ({
  ...entry,
  bytes: Uint8Array.from(Buffer.from(hex, 'hex')),
}));
