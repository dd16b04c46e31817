/** Times as Kubernetes writes them, RFC 3339 in UTC. Only forms of Date that read no clock. */

/** Milliseconds since 1970; NaN if the text is not a time. */
export function parseTime(text: string | undefined): number {
  return Date.parse(text ?? '');
}

/** Whole seconds. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
