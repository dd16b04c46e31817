/** Resolves when other work had its turn. It rejects where the answer is of no use any more, and the work ends. */
export type Pause = () => Promise<void>;
