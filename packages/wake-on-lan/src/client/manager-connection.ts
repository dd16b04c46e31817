/** One connection to one manager: a channel of gRPC, used with one certificate. */
import {
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  credentials,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { type FollowRequest, type HealthResponse, type WolMessages, wolServices } from '../proto/wol-services.js';
import type { WakeAnswer, WakeReport } from '../report/wake-report.js';
import { MANAGER_NAME, type TlsMaterial } from '../tls/tls-material.js';
import type { AddressChanges } from '../wire/address-changes.js';
import { LEADER_METADATA } from '../wire/leader-metadata.js';
import { encodeWakeEvent } from '../wire/wake-event.js';
import { decodeWakeEventResponse } from '../wire/wake-event-response.js';

const CALL_MS = 5_000;
const MOST_MESSAGE_OCTETS = 1024 * 1024;
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
const OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MOST_MESSAGE_OCTETS,
  'grpc.max_send_message_length': MOST_MESSAGE_OCTETS,
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  'grpc.keepalive_permit_without_calls': 1,
  // The queue retries, because it knows when a wake-up is too old.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  // Two connections in a row must not share the failure of the first one.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  // If a name has several addresses, agents choose different ones.
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }] }),
};

/** How a call ended. */
export type CallOutcome<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  /** The manager does not have the method. */
  | { readonly kind: 'unknown-method' }
  /** The manager refuses the message, and will refuse it again. */
  | { readonly kind: 'malformed'; readonly message: string }
  /** The manager is leader, and has reached a limit. */
  | { readonly kind: 'later'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };

export type UnansweredCall = Exclude<CallOutcome<never>, { readonly kind: 'answered' }>;

export class ManagerConnection {
  readonly address: string;
  readonly #client: Client;

  /** @param tls - undefined for clear text. */
  constructor(address: string, tls: TlsMaterial | undefined) {
    this.address = address;
    const security = tls === undefined ? credentials.createInsecure() : toCredentials(tls);
    const names =
      tls === undefined ? {} : { 'grpc.ssl_target_name_override': MANAGER_NAME, 'grpc.default_authority': MANAGER_NAME };
    this.#client = new Client(`dns:///${address}`, security, { ...OPTIONS, ...names });
  }

  async report(report: WakeReport): Promise<CallOutcome<WakeAnswer>> {
    const outcome = await this.#call('ReportWOLEvent', encodeWakeEvent(report));
    return outcome.kind === 'answered' ? { kind: 'answered', value: decodeWakeEventResponse(outcome.value) } : outcome;
  }

  /** Whether the manager serves. */
  async checkHealth(): Promise<CallOutcome<HealthResponse>> {
    return this.#call('HealthCheck', { service: '' });
  }

  /** Follows the list of addresses. `onEnd` is called once. Returns a function that ends it without `onEnd`. */
  follow(
    request: FollowRequest,
    onChanges: (changes: AddressChanges) => void,
    onEnd: (failure: UnansweredCall) => void,
  ): () => void {
    const { path, requestSerialize, responseDeserialize } = method('Follow');
    const call: ClientReadableStream<AddressChanges> = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
    );
    let isOver = false;
    const end = (failure: UnansweredCall): void => {
      if (isOver) return;
      isOver = true;
      onEnd(failure);
    };
    call.on('data', (changes: AddressChanges) => {
      if (!isOver) onChanges(changes);
    });
    call.on('error', (error) => end(toFailure(error as ServiceError)));
    call.on('end', () => end({ kind: 'unavailable', message: 'the manager ended the list' }));
    return () => {
      isOver = true;
      call.cancel();
    };
  }

  /** Calls in progress end with `unavailable`, at the latest after their time limit. */
  close(): void {
    this.#client.close();
  }

  #call<Name extends 'ReportWOLEvent' | 'HealthCheck'>(
    name: Name,
    request: WolMessages[Name]['request'],
  ): Promise<CallOutcome<WolMessages[Name]['response']>> {
    const { path, requestSerialize, responseDeserialize } = method(name);
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        { deadline: Date.now() + CALL_MS },
        (error, value) => {
          clearTimeout(timer);
          resolve(error === null ? { kind: 'answered', value: value as WolMessages[Name]['response'] } : toFailure(error));
        },
      );
      // The deadline uses the wall clock, which may jump.
      const timer = setTimeout(() => call.cancel(), CALL_MS + 500);
    });
  }
}

function method<Name extends keyof WolMessages>(
  name: Name,
): MethodDefinition<WolMessages[Name]['request'], WolMessages[Name]['response']> {
  const { wol, wakeableAddresses } = wolServices();
  return (name === 'Follow' ? wakeableAddresses : wol)[name] as unknown as MethodDefinition<
    WolMessages[Name]['request'],
    WolMessages[Name]['response']
  >;
}

function toCredentials({ certificate, key, authorities }: TlsMaterial): ReturnType<typeof credentials.createSsl> {
  return credentials.createSsl(Buffer.from(authorities), Buffer.from(key), Buffer.from(certificate));
}

function toFailure({ code, details, metadata }: ServiceError): UnansweredCall {
  if (code === status.FAILED_PRECONDITION) {
    const leader = metadata.get(LEADER_METADATA)[0];
    return { kind: 'not-leading', leader: leader?.toString() };
  }
  if (code === status.UNIMPLEMENTED) return { kind: 'unknown-method' };
  if (code === status.INVALID_ARGUMENT) return { kind: 'malformed', message: details };
  if (code === status.RESOURCE_EXHAUSTED) return { kind: 'later', message: details };
  return { kind: 'unavailable', message: details === '' ? (status[code] ?? 'unknown') : details };
}
