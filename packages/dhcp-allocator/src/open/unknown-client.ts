import type { MacAddress } from '../address/mac-address.js';
import { decodeText } from '../options/text.js';
import { isHostName } from '../pool/host-name.js';
import type { ClientMessage } from '../server/client-message.js';
import { OptionCode } from '../wire/layout.js';

/** Who asks: a client that no object declares. */
export interface UnknownClient {
  /** Identifies the client. Its client identifier (option 61) does not: any host can send a copy of it. */
  readonly macAddress: MacAddress;
  readonly hostname?: string;
  /** The link, or a relay and what it adds (option 82): the port of a switch, for instance. */
  readonly place: string;
  /** The same, if the relay adds something; absent otherwise, because many clients may share the place. */
  readonly port?: string;
}

/** The client that sent the message. */
export function unknownClientOf({ message, macAddress, relayAddress }: ClientMessage): UnknownClient {
  const { options } = message;
  const hostname = decodeText(options.get(OptionCode.hostName) ?? new Uint8Array(0));
  const added = relayAddress === undefined ? undefined : options.get(OptionCode.relayAgentInformation);
  const place = relayAddress === undefined ? 'link' : `${relayAddress} ${String.fromCharCode(...(added ?? []))}`;
  return {
    macAddress,
    ...(isHostName(hostname) && { hostname }),
    place,
    ...(added !== undefined && { port: place }),
  };
}
