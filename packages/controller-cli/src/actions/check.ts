import { checkManifests, findManifestFiles, formatFindings } from '@vmdhcp/admission';
import type { OutputFormat } from '@vmdhcp/admission/output-formats';
import type { Ipv4Address, Ipv4Cidr } from '@vmdhcp/dhcp-allocator';
import { ExitCode } from '@vmdhcp/service-process';

export interface CheckOptions {
  /** Files, folders, or `-`. */
  readonly filename: readonly string[];
  readonly output: OutputFormat;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly serviceCidr: readonly Ipv4Cidr[];
  readonly podCidr: readonly Ipv4Cidr[];
  readonly apiServerAddress: readonly Ipv4Address[];
  /** The same command under its earlier name. */
  readonly apiServer: readonly Ipv4Address[];
}

/** Prints the problems of manifest files. @throws CommandError if a file cannot be read. */
export async function check(options: CheckOptions): Promise<void> {
  const { filename, output, namespace, serviceCidr, podCidr } = options;
  const files = await findManifestFiles(filename);
  const clusterNetworks = {
    serviceCidrs: serviceCidr,
    podCidrs: podCidr,
    apiServers: [...options.apiServerAddress, ...options.apiServer],
  };
  const result = checkManifests(files, { namespace, clusterNetworks });
  process.stdout.write(formatFindings(output, result));
  if (result.findings.some(({ severity }) => severity === 'problem')) process.exitCode = ExitCode.invalidData;
}
