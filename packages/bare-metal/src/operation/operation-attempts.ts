/** The outcome of an action. */
export interface OperationOutcome {
  readonly isSuccess: boolean;
  /** The answer of the management controller, without credentials. */
  readonly message: string;
}

/** When a request to a management controller began, and how it ended. */
export interface OperationAttempt {
  /** Milliseconds since 1970. */
  readonly beganAtMs: number;
  /** Undefined if the management controller has not answered yet. */
  readonly outcome: OperationOutcome | undefined;
}

/** The same operation was begun a second time: a bug of the caller, which must not switch the power of a host. */
export class RepeatedOperationError extends Error {
  readonly code = 'REPEATED_OPERATION';
  override readonly name = 'RepeatedOperationError';
}

/**
 * The actions that one run of an agent has begun, by the uid of their operation. An entry stays as long as its operation exists.
 */
export class OperationAttempts {
  readonly #attempts = new Map<string, OperationAttempt>();

  /** @throws RepeatedOperationError if it was begun before. */
  begin(uid: string, nowMs: number): void {
    if (this.#attempts.has(uid)) throw new RepeatedOperationError(`HostOperation ${uid} was begun before`);
    this.#attempts.set(uid, { beganAtMs: nowMs, outcome: undefined });
  }

  /**
   * Notes that the management controller has answered, or cannot be reached. Does nothing for an action that was not begun, or
   * has ended.
   */
  end(uid: string, outcome: OperationOutcome): void {
    const attempt = this.#attempts.get(uid);
    if (attempt !== undefined && attempt.outcome === undefined) this.#attempts.set(uid, { ...attempt, outcome });
  }

  get(uid: string): OperationAttempt | undefined {
    return this.#attempts.get(uid);
  }

  /**
   * Forgets operations that no longer exist. @param uids - the existing ones, from a read of the API server and not from a cache.
   */
  keep(uids: ReadonlySet<string>): void {
    for (const uid of this.#attempts.keys()) if (!uids.has(uid)) this.#attempts.delete(uid);
  }

  get size(): number {
    return this.#attempts.size;
  }
}
