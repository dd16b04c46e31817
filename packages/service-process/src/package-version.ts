import { readFileSync } from 'node:fs';

/** The version that a package.json has. */
export function packageVersion(packageUrl: URL): string {
  const { version } = JSON.parse(readFileSync(packageUrl, 'utf8')) as { version: string };
  return version;
}
