import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { BuildIdentity } from './oci/image-config.js';
import { runCommand } from './run-command.js';

interface ChartValues {
  readonly image: { readonly repository: string };
  readonly agent: { readonly image: { readonly repository: string } };
}

export interface IdentitySettings {
  readonly version?: string;
  readonly revision?: string;
  /** Seconds since 1970, as text. */
  readonly sourceDateEpoch: string | undefined;
}

/** What a build is called: what is given, otherwise what the repository has; never the current time. */
export async function buildIdentity(
  root: string,
  { version, revision, sourceDateEpoch }: IdentitySettings,
): Promise<BuildIdentity> {
  const commit = await runCommand(['git', '-C', root, 'log', '-1', '--format=%H %ct']).then(
    (output) => output.toString('utf8').trim().split(' '),
    // An archive of the source is not a repository.
    () => [undefined, '0'],
  );
  const manifest = await readManifest(join(root, 'packages/controller-cli/package.json'));
  const values = parse(await readFile(join(root, 'charts/vmdhcp/values.yaml'), 'utf8')) as ChartValues;
  const seconds = Number(sourceDateEpoch || commit[1]);
  return {
    version: version ?? manifest.version,
    revision: revision ?? commit[0],
    source: manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, ''),
    repositories: { controller: values.image.repository, agent: values.agent.image.repository },
    created: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
  };
}

async function readManifest(path: string): Promise<{ readonly version: string; readonly repository?: { readonly url: string } }> {
  return JSON.parse(await readFile(path, 'utf8'));
}
