const HOST_NAME = /^(?=.{1,254}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;

/** True for a DNS name of at most 253 characters whose labels have 1 to 63. Source: RFC 1035 §2.3.4. */
export function isHostName(text: string): boolean {
  return HOST_NAME.test(text);
}
