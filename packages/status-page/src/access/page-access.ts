/** Decides who may see which parts of the page. */
import type { PageErrorReason, Section, SectionAccess } from '../model/page-data.js';

/** Whether a request may be answered, for which user, and which sections. */
export type AccessDecision =
  | {
      readonly kind: 'granted';
      /** Null: no token is wanted. */
      readonly user: string | null;
      readonly sections: Readonly<Record<Section, SectionAccess>>;
    }
  | {
      readonly kind: 'refused';
      readonly status: 401 | 403 | 429 | 503;
      readonly error: PageErrorReason;
      readonly message: string;
      /** When another attempt may succeed, in seconds. */
      readonly retryAfterSeconds?: number;
    };

export interface PageAccess {
  /**
   * Never throws: access is refused if it cannot be decided.
   * @param token - undefined: the request has none.
   * @param peer - the address that the request comes from.
   */
  readonly decide: (token: string | undefined, peer: string) => Promise<AccessDecision>;
}

/** The sections that a decision allows. */
export function sectionsIn(sections: Readonly<Record<Section, SectionAccess>>): ReadonlySet<Section> {
  const all = Object.entries(sections) as [Section, SectionAccess][];
  return new Set(all.flatMap(([section, { kind }]) => (kind === 'shown' ? [section] : [])));
}
