/** The file with everything that a migration changes or deletes: a Kubernetes List in JSON, so that kubectl can also read it. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isRecord, type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

export class MigrationBackup {
  readonly objects: readonly KubernetesObject[];

  private constructor(objects: readonly KubernetesObject[]) {
    this.objects = objects;
  }

  /** @returns undefined if there is no such file. @throws CommandError if it is not a backup, or cannot be read. */
  static read(path: string): MigrationBackup | undefined {
    const text = readText(path);
    if (text === undefined) return undefined;
    const parsed = parse(text);
    const objects = readList(parsed, 'items').filter(isRecord) as unknown as readonly KubernetesObject[];
    const isList = readField(parsed, 'kind') === 'List' && objects.some(({ kind }) => kind === 'CustomResourceDefinition');
    if (!isList)
      throw new CommandError(
        `${path} is not a backup of a migration; name another file with --backup FILE`,
        ExitCode.invalidData,
      );
    return new MigrationBackup(objects);
  }

  /** Writes the file as a whole: after a crash it is complete, or does not exist. @throws CommandError if it cannot be written. */
  static write(path: string, objects: readonly KubernetesObject[]): MigrationBackup {
    const part = `${path}.${process.pid}.part`;
    try {
      const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, undefined, 1);
      writeFileSync(part, `${text}\n`, { mode: 0o600, flush: true });
      // Do not replace a backup that another run has written meanwhile: it may be from before a change.
      linkSync(part, path);
    } catch (error) {
      const message = `the backup cannot be written: ${(error as Error).message}; name another file with --backup FILE`;
      throw new CommandError(message, ExitCode.cannotCreate, { cause: error });
    } finally {
      rmSync(part, { force: true });
    }
    return new MigrationBackup(objects);
  }

  /** True if the backup has one of these objects, by uid. */
  hasOneOf(objects: readonly KubernetesObject[]): boolean {
    const uids = new Set(this.objects.map(({ metadata }) => metadata.uid));
    return objects.some(({ metadata: { uid } }) => uid !== undefined && uids.has(uid));
  }

  /** A CustomResourceDefinition before the migration. */
  definition(name: string): KubernetesObject | undefined {
    return this.objects.find(({ kind, metadata }) => kind === 'CustomResourceDefinition' && metadata.name === name);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`the backup cannot be read: ${(error as Error).message}`, ExitCode.noInput, { cause: error });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
