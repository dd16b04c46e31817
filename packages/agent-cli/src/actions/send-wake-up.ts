import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { encodeMagicPacket, type SecureOnPassword } from '@vmdhcp/wake-on-lan';
import { sendDatagram, sendFrame } from '@vmdhcp/wake-on-lan/linux';

export interface WakeOptions {
  readonly to: string;
  readonly interface?: string;
  readonly port: number;
  readonly password?: SecureOnPassword;
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** Sends one magic packet, and prints where it went. @throws CommandError if it cannot be sent. */
export async function sendWakeUp(macAddress: MacAddress, options: WakeOptions): Promise<void> {
  const { password, json = false } = options;
  const payload = encodeMagicPacket({ macAddress, ...(password !== undefined && { password }) });
  const sent = await send(payload, options);
  if (json) process.stdout.write(`${JSON.stringify({ macAddress, octets: payload.length, ...sent }, null, 2)}\n`);
  else process.stdout.write(`sent a magic packet for ${macAddress} ${describe(sent)}\n`);
}

type Sent =
  | { readonly way: 'udp'; readonly to: string; readonly port: number; readonly interface: string | null }
  | { readonly way: 'ethernet'; readonly interface: string };

async function send(payload: Uint8Array, { to, port, interface: name, raw = false }: WakeOptions): Promise<Sent> {
  if (raw && name === undefined) throw new CommandError('--raw needs --interface', ExitCode.usage);
  try {
    if (raw && name !== undefined) {
      sendFrame(payload, name);
      return { way: 'ethernet', interface: name };
    }
    await sendDatagram(payload, { to, port, interfaceName: name });
    return { way: 'udp', to, port, interface: name ?? null };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const remedy = code === 'ENETUNREACH' ? '; there is no route: name an --interface' : '';
    throw new CommandError(`the magic packet was not sent: ${message}${remedy}`, ExitCode.unavailable, { cause: error });
  }
}

function describe(sent: Sent): string {
  if (sent.way === 'ethernet') return `in a frame on ${sent.interface}`;
  return `to ${sent.to}, UDP port ${sent.port}${sent.interface === null ? '' : `, on ${sent.interface}`}`;
}
