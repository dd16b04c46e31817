/** Access without a cluster: for all programs of the host, or with one token. */
import type { Clock } from '@vmdhcp/kube-runtime';
import { SECTIONS, type Section, type SectionAccess } from '../model/page-data.js';
import { AttemptLimit } from './attempt-limit.js';
import type { AccessDecision, PageAccess } from './page-access.js';

/** For a page that only programs of the host can reach. */
export function accessForAll(shown: ReadonlySet<Section>): PageAccess {
  const decision = grant(null, shown);
  return { decide: async () => decision };
}

/** How the token of a bare host is compared, and who is told of refusals. */
export interface TokenAccessPorts {
  /** Compares two texts, in a time that does not depend on where they differ. */
  readonly isSame: (one: string, other: string) => boolean;
  readonly clock: Clock;
  readonly onRefused: (refusal: { readonly error: string; readonly user: string | undefined; readonly peer: string }) => void;
}

const MOST_TRUSTED = 1_000;

/** Access with the token. Wrong tokens are limited, for each peer and for all. */
export function accessByToken(token: string, shown: ReadonlySet<Section>, ports: TokenAccessPorts): PageAccess {
  const limit = new AttemptLimit(ports.clock);
  /** Peers that have had the token, the newest last. */
  const trusted = new Set<string>();
  const trust = (peer: string): void => {
    trusted.delete(peer);
    trusted.add(peer);
    const [oldest] = trusted;
    if (trusted.size > MOST_TRUSTED && oldest !== undefined) trusted.delete(oldest);
  };
  const decide = (given: string | undefined, peer: string): AccessDecision => {
    if (given === undefined) return refuse(401, 'token-missing', 'the page needs the token of its file (--ui-token-file)');
    const waitMs = limit.waitMs(peer, trusted.has(peer));
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1_000);
      const message = `too many attempts with wrong tokens; try again in ${retryAfterSeconds} s`;
      return { ...refuse(429, 'too-many-requests', message), retryAfterSeconds };
    }
    if (ports.isSame(given, token)) {
      trust(peer);
      return grant('token', shown);
    }
    limit.noteFailure(peer);
    ports.onRefused({ error: 'token-refused', user: undefined, peer });
    return refuse(401, 'token-refused', 'this is not the token of the file (--ui-token-file)');
  };
  return { decide: async (given, peer) => decide(given, peer) };
}

type Refusal = AccessDecision & { readonly kind: 'refused' };

function refuse(status: Refusal['status'], error: Refusal['error'], message: string): Refusal {
  return { kind: 'refused', status, error, message };
}

function grant(user: string | null, shown: ReadonlySet<Section>): AccessDecision {
  const sections = Object.fromEntries(
    SECTIONS.map((section): [Section, SectionAccess] => [section, { kind: shown.has(section) ? 'shown' : 'off' }]),
  ) as Record<Section, SectionAccess>;
  return { kind: 'granted', user, sections };
}
