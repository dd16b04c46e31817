const MOST_OF_LINK = 2_048;

/**
 * The path of a link of a service, with its query; undefined for a link to another server, and for an invalid link. `origin` is that of the service:
 * `https://10.0.0.10:443`.
 */
export function resolveLink(link: string, origin: string): string | undefined {
  if (link.length > MOST_OF_LINK || !URL.canParse(link, origin)) return undefined;
  const [url, service] = [new URL(link, origin), new URL(origin)];
  if (url.origin !== service.origin || url.username !== '' || url.password !== '') return undefined;
  return `${url.pathname}${url.search}`;
}
