/** Resolves after other work had its turn. Rejects, to end the work, if the answer is no longer needed. */
export type Pause = () => Promise<void>;
