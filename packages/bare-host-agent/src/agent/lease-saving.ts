/** Knows whether leases can be saved at the moment. A failed save is tried again until it succeeds; the reason is logged once. */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';

const RETRY_INTERVAL_MS = 2_000;

/**
 * - `saved`: nothing waits.
 * - `failing`: the last save failed; the agent will plan and save again soon.
 * - `recovered`: a later save succeeded, but maybe not of the change that failed: the agent still plans and saves again.
 */
type SavingState =
  | { readonly kind: 'saved' }
  | { readonly kind: 'failing'; readonly reason: string; readonly callOffRetry: () => void }
  | { readonly kind: 'recovered'; readonly callOffRetry: () => void }
  | { readonly kind: 'stopped' };

export interface LeaseSavingSettings {
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly clock: Clock;
  /** The state directory, for the log. */
  readonly directory: string;
  /** Plans and saves again; `onFailure` follows if that fails too. */
  readonly retry: () => void;
}

export class LeaseSaving {
  readonly #settings: LeaseSavingSettings;
  #state: SavingState = { kind: 'saved' };

  constructor(settings: LeaseSavingSettings) {
    this.#settings = settings;
  }

  /** A save succeeded. */
  onSaved(): void {
    const { logger, directory } = this.#settings;
    if (this.#state.kind !== 'failing') return;
    this.#state = { kind: 'recovered', callOffRetry: this.#state.callOffRetry };
    logger.info({ directory }, 'leases can be saved again');
  }

  /** A change could not be saved. */
  onFailure(error: unknown): void {
    if (this.#state.kind === 'stopped') return;
    const { logger, clock, directory } = this.#settings;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#state.kind !== 'failing' || this.#state.reason !== reason)
      logger.error(
        { directory },
        `leases cannot be saved: ${reason}; clients keep the saved leases, and changes wait until they can be saved`,
      );
    this.#callOffRetry();
    this.#state = { kind: 'failing', reason, callOffRetry: clock.after(RETRY_INTERVAL_MS, () => this.#retry()) };
  }

  /** Retries nothing from now on. */
  stop(): void {
    this.#callOffRetry();
    this.#state = { kind: 'stopped' };
  }

  #retry(): void {
    if (this.#state.kind === 'recovered') this.#state = { kind: 'saved' };
    this.#settings.retry();
  }

  #callOffRetry(): void {
    if ('callOffRetry' in this.#state) this.#state.callOffRetry();
  }
}
