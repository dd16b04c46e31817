/** `send-tagged-frame INTERFACE VLAN MAC`: sends a magic packet in a frame with a VLAN tag, as a switch passes it on through a trunk. */
import { FrameSocket } from '@vmdhcp/linux-sockets';
import { encodeWakeFrame } from '@vmdhcp/wake-on-lan';

const ETHERTYPE_VLAN = 0x8100;
/** Two addresses and the type of the tag, which the socket writes. */
const WRITTEN_BY_SOCKET = 14;

const [, , interfaceName = '', vlan = '', macAddress = ''] = process.argv;
const frame = encodeWakeFrame({
  destination: 'ff:ff:ff:ff:ff:ff',
  source: '02:00:00:00:00:00',
  vlanIds: [Number(vlan)],
  packet: { macAddress },
});
const socket = new FrameSocket({ interfaceName, etherType: ETHERTYPE_VLAN });
socket.send(frame.subarray(WRITTEN_BY_SOCKET));
socket.close();
