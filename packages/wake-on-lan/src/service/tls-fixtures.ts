/** Authorities and certificates that are made for a test, and a directory like a Secret mounted by kubelet. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pair } from '@vmdhcp/service-certificates';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import { AGENT_NAME, MANAGER_NAME, type TlsMaterial } from '../tls/tls-material.js';

const DAY_MS = 86_400_000;
export const NOW = () => ({ notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS });
export const EXPIRED = () => ({ notBeforeMs: Date.now() - 2 * DAY_MS, notAfterMs: Date.now() - DAY_MS });
export const TOMORROW = () => ({ notBeforeMs: Date.now() + DAY_MS, notAfterMs: Date.now() + 2 * DAY_MS });

export interface TestAuthority {
  readonly certificate: string;
  readonly issue: (name: string, validity?: { notBeforeMs: number; notAfterMs: number }) => Promise<TlsMaterial>;
}

export async function createAuthority(): Promise<TestAuthority> {
  const authority = await certificateIssuer.createAuthority('test', NOW());
  return {
    certificate: authority.certificate,
    issue: async (name, validity = NOW()) =>
      toMaterial(await certificateIssuer.issue(authority, [name], validity), authority.certificate),
  };
}

export const managerOf = (authority: TestAuthority) => authority.issue(MANAGER_NAME);
export const agentOf = (authority: TestAuthority) => authority.issue(AGENT_NAME);

function toMaterial({ certificate, key }: Pair, authorities: string): TlsMaterial {
  return { certificate, key, authorities };
}

export interface MountedSecret {
  readonly path: string;
  readonly replace: (material: TlsMaterial) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A directory whose files are links into `..data`, which is itself a link that is replaced. */
export async function mountSecret(material: TlsMaterial): Promise<MountedSecret> {
  const path = await mkdtemp(join(tmpdir(), 'wol-tls-'));
  let version = 0;
  const replace = async ({ certificate, key, authorities }: TlsMaterial): Promise<void> => {
    const name = `..version-${version++}`;
    await mkdir(join(path, name));
    await writeFile(join(path, name, 'tls.crt'), certificate);
    await writeFile(join(path, name, 'tls.key'), key);
    await writeFile(join(path, name, 'ca.crt'), authorities);
    await symlink(name, join(path, '..data-new'));
    await rename(join(path, '..data-new'), join(path, '..data'));
  };
  await replace(material);
  for (const file of ['tls.crt', 'tls.key', 'ca.crt']) await symlink(`..data/${file}`, join(path, file));
  return { path, replace, remove: () => rm(path, { recursive: true }) };
}
