/**
 * Access by the API server's own decisions: a TokenReview identifies the user, and SubjectAccessReviews tell which kinds the user may list. A
 * decision is valid for a short time, and the number of known tokens is limited. Wrong tokens are limited, for each peer and for all, so a flood of
 * them neither finds a valid one nor burdens the API server. Access is refused while the API server does not answer.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import { SECTIONS, type Section, type SectionAccess } from '../model/page-data.js';
import { AttemptLimit } from './attempt-limit.js';
import type { AccessDecision, PageAccess } from './page-access.js';

/** The user in a TokenReview. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A right that a section needs. */
export interface SectionRight {
  readonly verb: 'list';
  readonly group: string;
  readonly resource: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

/** How tokens and rights are reviewed, and who is told of refusals. */
export interface ReviewPorts {
  /** Undefined if the token is not valid. @throws Error if the API server does not answer. */
  readonly reviewToken: (token: string) => Promise<ReviewedUser | undefined>;
  /** @throws Error where the API server gives no answer. */
  readonly reviewAccess: (user: ReviewedUser, right: SectionRight) => Promise<boolean>;
  /** Returns the digest of a token, because tokens themselves are not kept. */
  readonly digest: (token: string) => string;
  readonly clock: Clock;
  /** There was no answer. */
  readonly onError: (error: unknown) => void;
  /** A token or a user was refused. */
  readonly onRefused: (refusal: { readonly error: string; readonly user: string | undefined; readonly peer: string }) => void;
}

/** Which rights open which sections of the page. */
export interface ReviewAccessSettings {
  /** The rights that each section needs, all of them; absent if this server does not have the section. */
  readonly rights: Readonly<Partial<Record<Section, readonly SectionRight[]>>>;
}

/** How long a decision is valid, in milliseconds: a revoked right ends within this time. */
export const DECISION_MS = 60_000;
/** How long a refusal is valid: a missing right may be granted at any moment. */
const DENIAL_MS = 5_000;
const MOST_DECISIONS = 1_000;
const MOST_REVIEWS_AT_ONCE = 16;
/** Octets: tokens of service accounts have about 1,000, those of identity providers several thousand. */
const MOST_TOKEN_OCTETS = 8_192;

interface Kept {
  readonly decision: AccessDecision;
  readonly untilMs: number;
}

export class ReviewAccess implements PageAccess {
  readonly #settings: ReviewAccessSettings;
  readonly #ports: ReviewPorts;
  /** By digest, the newest last. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<AccessDecision>>();
  readonly #limit: AttemptLimit;

  constructor(settings: ReviewAccessSettings, ports: ReviewPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#limit = new AttemptLimit(ports.clock);
  }

  readonly decide = async (token: string | undefined, peer: string): Promise<AccessDecision> => {
    if (token === undefined) return TOKEN_MISSING;
    if (token.length > MOST_TOKEN_OCTETS || !/^[\x21-\x7e]+$/.test(token)) return this.#refuseText(peer);
    const digest = this.#ports.digest(token);
    const kept = this.#kept.get(digest);
    if (kept !== undefined && kept.untilMs > this.#ports.clock.nowMs()) return kept.decision;
    const underWay = this.#underWay.get(digest);
    if (underWay !== undefined) return await underWay;
    // Wrong tokens of others behind the same address do not lock out a user who had access before.
    const waitMs = kept?.decision.kind === 'granted' ? 0 : this.#waitMs(peer);
    if (waitMs > 0) return tooMany(waitMs);
    const review = this.#review(token, peer);
    this.#underWay.set(digest, review);
    try {
      const decision = await review;
      this.#keep(digest, decision);
      return decision;
    } finally {
      this.#underWay.delete(digest);
    }
  };

  #waitMs(peer: string): number {
    return this.#underWay.size < MOST_REVIEWS_AT_ONCE ? this.#limit.waitMs(peer) : 1_000;
  }

  async #review(token: string, peer: string): Promise<AccessDecision> {
    try {
      const user = await this.#ports.reviewToken(token);
      if (user === undefined) return this.#refuse(TOKEN_REFUSED, peer);
      const decision = await this.#decideFor(user);
      if (decision.kind === 'refused') this.#ports.onRefused({ error: decision.error, user: user.username, peer });
      return decision;
    } catch (error) {
      this.#ports.onError(error);
      return UNAVAILABLE;
    }
  }

  async #decideFor(user: ReviewedUser): Promise<AccessDecision> {
    const entries = await Promise.all(SECTIONS.map(async (section) => [section, await this.#accessTo(section, user)] as const));
    const sections = Object.fromEntries(entries) as Record<Section, SectionAccess>;
    // Events are shown together with their objects.
    const own = entries.filter(([section]) => section !== 'events');
    if (own.some(([, { kind }]) => kind === 'shown')) return { kind: 'granted', user: user.username, sections };
    const missing = own.flatMap(([, access]) => (access.kind === 'denied' ? [access.right] : []));
    const message = `user ${JSON.stringify(user.username)} may see no part of the page: missing is the right to ${missing.join(', or ')}; bind the ClusterRole of the page to the user (docs/page.md)`;
    return { kind: 'refused', status: 403, error: 'forbidden', message };
  }

  async #accessTo(section: Section, user: ReviewedUser): Promise<SectionAccess> {
    const rights = this.#settings.rights[section];
    if (rights === undefined) return { kind: 'off' };
    for (const right of rights) {
      if (!(await this.#ports.reviewAccess(user, right))) return { kind: 'denied', right: describeSectionRight(right) };
    }
    return { kind: 'shown' };
  }

  /** A malformed token counts only against its own peer's limit: it must neither use up the attempts of others nor fill the log. */
  #refuseText(peer: string): AccessDecision {
    const waitMs = this.#limit.waitMs(peer);
    return waitMs > 0 ? tooMany(waitMs) : this.#refuse(TOKEN_REFUSED, peer);
  }

  #refuse(decision: AccessDecision, peer: string): AccessDecision {
    this.#limit.noteFailure(peer);
    this.#ports.onRefused({ error: 'token-refused', user: undefined, peer });
    return decision;
  }

  /** If the API server did not decide, ask again next time. */
  #keep(digest: string, decision: AccessDecision): void {
    if (decision.kind === 'refused' && decision.status !== 401 && decision.status !== 403) return;
    const untilMs = this.#ports.clock.nowMs() + (decision.kind === 'granted' ? DECISION_MS : DENIAL_MS);
    this.#kept.delete(digest);
    this.#kept.set(digest, { decision, untilMs });
    // Decisions about valid tokens are kept longest; otherwise a flood of wrong ones would evict them.
    const excess = this.#kept.size - MOST_DECISIONS;
    if (excess <= 0) return;
    const refused = [...this.#kept].filter(([, one]) => one.decision.kind === 'refused');
    for (const [key] of [...refused, ...this.#kept].slice(0, excess)) this.#kept.delete(key);
  }
}

/** `list ippools.network.harvesterhci.io in all namespaces`. */
export function describeSectionRight({ verb, group, resource, namespace }: SectionRight): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return `${verb} ${what} in ${namespace === '' ? 'all namespaces' : `namespace ${namespace}`}`;
}

const TOKEN_MISSING: AccessDecision = {
  kind: 'refused',
  status: 401,
  error: 'token-missing',
  message: 'the page needs a token of the cluster: kubectl create token SERVICEACCOUNT',
};
const TOKEN_REFUSED: AccessDecision = {
  kind: 'refused',
  status: 401,
  error: 'token-refused',
  message:
    'the API server does not accept the token: it has expired, or is for another audience; make another one: kubectl create token SERVICEACCOUNT',
};
const UNAVAILABLE: AccessDecision = {
  kind: 'refused',
  status: 503,
  error: 'unavailable',
  message: 'the API server did not decide about the token; the page is shown when it answers again',
  retryAfterSeconds: 5,
};

function tooMany(waitMs: number): AccessDecision {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `too many attempts with tokens that are not valid; try again in ${retryAfterSeconds} s`;
  return { kind: 'refused', status: 429, error: 'too-many-requests', message, retryAfterSeconds };
}
