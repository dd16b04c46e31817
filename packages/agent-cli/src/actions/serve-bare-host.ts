import type { BareHostView } from '@vmdhcp/bare-host-agent';
import type { BareHostPageSettings } from '@vmdhcp/bare-host-agent/page';
import type { PoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import { describePoolsFileFinding, fileState, loadPoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import { listLinks } from '@vmdhcp/linux-sockets';
import {
  CommandError,
  createLogger,
  ExitCode,
  type ListenAddress,
  type Logger,
  type LogLevel,
  stopSignal,
} from '@vmdhcp/service-process';
import { describeMissingInterfaces } from './describe-missing-interfaces.js';
import { poolsByInterface } from './pools-by-interface.js';
import { takeAgentCapabilities } from './take-agent-capabilities.js';

export interface BareHostOptions {
  readonly pools: string;
  /** The interfaces of each pool, with its name as written. */
  readonly interface: ReadonlyMap<string, readonly string[]>;
  readonly state: string;
  readonly http: ListenAddress | 'off';
  readonly configureInterfaces?: boolean;
  readonly logLevel: LogLevel;
  readonly logPackets?: boolean;
  /** Undefined if there is no page. */
  readonly page: BareHostPageSettings | undefined;
}

/** Serves the pools of a file until the process is told to end. @throws CommandError if it cannot start at all. */
export async function serveBareHost(options: BareHostOptions): Promise<void> {
  const poolsFileState = await fileState(options.pools);
  // Another process parses the file. Meanwhile this one loads the agent, and the engine compiles the packet path.
  const [file, { BareHostAgent }] = await Promise.all([readPools(options.pools), loadAgent()]);
  const logger = await createLogger(options.logLevel);
  takeAgentCapabilities({ serves: true, configures: options.configureInterfaces === true }, logger);
  const existing = listLinks().map(({ interfaceName }) => interfaceName);
  for (const text of describeMissingInterfaces([...options.interface.values()].flat(), existing)) logger.warn({}, text);
  const asked = stopSignal();
  const agent = await BareHostAgent.start(
    {
      poolsPath: options.pools,
      poolsFileState,
      statePath: options.state,
      poolsOfInterface: poolsByInterface(options.interface, file),
      configureInterfaces: options.configureInterfaces === true,
      http: options.http === 'off' ? undefined : options.http,
      logPackets: options.logPackets === true,
    },
    file,
    logger,
  );
  const page = await servePage(options.page, agent.view, logger);
  const stop = async () => {
    await Promise.all([page?.stop(), agent.stop()]);
  };
  if (asked.aborted) await stop();
  else asked.addEventListener('abort', () => void stop(), { once: true });
}

/** Its modules are loaded only on request. */
async function servePage(settings: BareHostPageSettings | undefined, view: BareHostView, logger: Logger) {
  if (settings === undefined) return undefined;
  const { startBareHostPage } = await import('@vmdhcp/bare-host-agent/page');
  return await startBareHostPage(settings, view, logger);
}

async function loadAgent(): Promise<typeof import('@vmdhcp/bare-host-agent')> {
  const loaded = await import('@vmdhcp/bare-host-agent');
  const { warmUpPacketPath } = await import('@vmdhcp/dhcp-agent/packet-path');
  warmUpPacketPath({ octets: (length) => Buffer.alloc(length) });
  return loaded;
}

async function readPools(path: string): Promise<PoolsFile> {
  const result = await loadPoolsFile(path);
  for (const warning of result.warnings) process.stderr.write(`warning: ${describePoolsFileFinding(path, warning)}\n`);
  if (result.ok) return result.file;
  const lines = result.problems.map((problem) => `  ${describePoolsFileFinding(path, problem)}`);
  throw new CommandError(
    `${path} cannot be served:\n${lines.join('\n')}`,
    result.missing ? ExitCode.noInput : ExitCode.invalidData,
  );
}
