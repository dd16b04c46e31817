/** Serves the read-only page of a bare host. It is loaded only with `--ui`. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import {
  CommandError,
  ExitCode,
  formatListenAddress,
  type ListenAddress,
  type Logger,
  packageVersion,
} from '@vmdhcp/service-process';
import { accessByToken, accessForAll, loadAssets, type PageAccess, PageService, POOLS_ALONE } from '@vmdhcp/status-page';
import type { BareHostView } from '../agent/bare-host-view.js';
import { bareHostSource } from './bare-host-source.js';

/** Where the page of a bare host listens, who may read it, and with which certificate. */
export interface BareHostPageSettings {
  readonly listen: ListenAddress;
  /** The file with the token; undefined if no token is required, on a loopback address. */
  readonly tokenFile: string | undefined;
  /** Undefined for HTTP without TLS, on a loopback address. */
  readonly tlsDirectory: string | undefined;
}

/** @throws CommandError if the file of the token cannot be used. */
export async function startBareHostPage(
  { listen, tokenFile, tlsDirectory }: BareHostPageSettings,
  view: BareHostView,
  logger: Logger,
): Promise<PageService> {
  const instance = randomUUID();
  const service = new PageService({
    source: bareHostSource(view, systemClock, { instance, host: hostname() }),
    access: tokenFile === undefined ? accessForAll(POOLS_ALONE.sections) : await accessOf(tokenFile, logger),
    assets: loadAssets(),
    ...{
      clock: systemClock,
      wallTimeMs: Date.now,
      instance,
      version: packageVersion(new URL('../../package.json', import.meta.url)),
      servedBy: hostname(),
    },
    ...{ onlyLoopbackNames: tokenFile === undefined, listen, tlsDirectory },
    onError: (error) => logger.error({ err: error }, 'the page: a request failed'),
    onListening: (port) => {
      const address = formatListenAddress({ host: listen.host, port });
      logger.info({ address, tls: tlsDirectory !== undefined }, 'the page is served');
    },
    onReplaced: (endsAtMs) => logger.info({ until: new Date(endsAtMs).toISOString() }, 'the page has another certificate'),
    onProblem: (message) => logger.error(`${message}; retrying. DHCP continues`),
  });
  service.start();
  return service;
}

/** In octets: a shorter token can be guessed. */
const LEAST_TOKEN_OCTETS = 16;

async function accessOf(tokenFile: string, logger: Logger): Promise<PageAccess> {
  const token = (await readToken(tokenFile)).trim();
  if (Buffer.byteLength(token) < LEAST_TOKEN_OCTETS || /\s/.test(token)) {
    const message = `${tokenFile}: the token must have at least ${LEAST_TOKEN_OCTETS} characters, on one line without spaces; openssl rand -hex 32 makes one`;
    throw new CommandError(message, ExitCode.invalidData);
  }
  return accessByToken(token, POOLS_ALONE.sections, {
    isSame: (one, other) => timingSafeEqual(digestOf(one), digestOf(other)),
    clock: systemClock,
    onRefused: ({ error, peer }) => logger.info({ error, peer }, 'the page: access refused'),
  });
}

async function readToken(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`the token cannot be read: ${(error as Error).message}`, ExitCode.noInput, { cause: error });
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
