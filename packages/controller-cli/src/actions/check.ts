import { checkManifests, findManifestFiles, formatFindings } from '@vmdhcp/admission';
import type { OutputFormat } from '@vmdhcp/admission/output-formats';
import type { ClusterNetworks } from '@vmdhcp/reconciler';
import { ExitCode } from '@vmdhcp/service-process';

export interface CheckOptions {
  /** Files, folders, or `-`. */
  readonly filename: readonly string[];
  readonly output: OutputFormat;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly clusterNetworks: ClusterNetworks;
}

/** Prints the problems of manifest files. @throws CommandError if a file cannot be read. */
export async function check(options: CheckOptions): Promise<void> {
  const { filename, output, namespace, clusterNetworks } = options;
  const files = await findManifestFiles(filename);
  const result = checkManifests(files, { namespace, clusterNetworks });
  process.stdout.write(formatFindings(output, result));
  if (result.findings.some(({ severity }) => severity === 'problem')) process.exitCode = ExitCode.invalidData;
}
