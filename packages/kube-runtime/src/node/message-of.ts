/** The meaning of system error codes, for people. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the other side closed the connection',
  EPIPE: 'the other side closed the connection',
  ETIMEDOUT: 'there was no answer in time',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the name server did not answer',
};

/** One sentence on what went wrong: all attempts if there were several, and the reason if an operation was aborted. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A name with several addresses, none of which answers, is an error without a message.
  if (error instanceof AggregateError && error.errors.length > 0) return [...new Set(error.errors.map(messageOf))].join('; ');
  if (error.name === 'AbortError' && error.cause instanceof Error) return messageOf(error.cause);
  const text = error.message || error.name;
  const meaning = 'code' in error ? MEANINGS[String(error.code)] : undefined;
  return meaning === undefined ? text : `${text}: ${meaning}`;
}
