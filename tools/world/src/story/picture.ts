/** A space-time picture of a story: a line for each guest and each agent, an arrow for each reply, and the broken law in red. */
import type { Captured } from '../network/segment.js';

export interface PictureSettings {
  readonly title: string;
  readonly captured: readonly Captured[];
  /** Other events, in words. */
  readonly acts: readonly { readonly atMs: number; readonly line: string }[];
  readonly broken: { readonly atMs: number; readonly line: string };
}

const LANE_WIDTH = 150;
const LEFT = 90;
const TOP = 70;
const ROW = 16;

/** The last moments before a law was broken, as SVG. */
export function drawStory({ title, captured, acts, broken }: PictureSettings): string {
  const lanes = [
    ...new Set(
      captured.flatMap(({ packet, server }) => [packet.macAddress, ...(server === undefined ? [] : [shortName(server)])]),
    ),
  ];
  const xOf = (lane: string) => LEFT + lanes.indexOf(lane) * LANE_WIDTH + LANE_WIDTH / 2;
  const rows = [
    ...captured.map((one) => ({ atMs: one.atMs, draw: (y: number) => drawPacket(one, xOf, y) })),
    ...acts.map(({ atMs, line }) => ({ atMs, draw: (y: number) => note(line, y, 'act') })),
    { atMs: broken.atMs, draw: (y: number) => note(broken.line, y, 'broken') },
  ].sort((one, other) => one.atMs - other.atMs);
  const height = TOP + rows.length * ROW + 30;
  const width = Math.max(900, LEFT + lanes.length * LANE_WIDTH + 20);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    '<style>.lane{stroke:#bbb}.guest{stroke:#06c}.agent{stroke:#080}.act{fill:#666}.broken{fill:#c00;font-weight:bold}</style>',
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="10" y="20" font-size="14">${escapeXml(title)}</text>`,
    ...lanes.flatMap((lane) => [
      `<text x="${xOf(lane)}" y="${TOP - 20}" text-anchor="middle">${escapeXml(lane)}</text>`,
      `<line class="lane" x1="${xOf(lane)}" y1="${TOP - 12}" x2="${xOf(lane)}" y2="${height - 10}"/>`,
    ]),
    ...rows.flatMap(({ atMs, draw }, index) => {
      const y = TOP + index * ROW;
      return [`<text x="4" y="${y + 4}">${(atMs / 1000).toFixed(3)} s</text>`, draw(y)];
    }),
    '</svg>',
    '',
  ].join('\n');
}

function drawPacket({ packet, server }: Captured, xOf: (lane: string) => number, y: number): string {
  const guest = xOf(packet.macAddress);
  if (server === undefined)
    return `<circle class="guest" cx="${guest}" cy="${y}" r="3" fill="#06c"/><text x="${guest + 6}" y="${y + 4}">${packet.type} ${zeroless(packet.ciaddr)}</text>`;
  const agent = xOf(shortName(server));
  return `<line class="agent" x1="${agent}" y1="${y}" x2="${guest}" y2="${y}"/><circle cx="${guest}" cy="${y}" r="2" fill="#080"/><text x="${(agent + guest) / 2}" y="${y - 2}" text-anchor="middle">${packet.type} ${zeroless(packet.yiaddr)}</text>`;
}

function note(line: string, y: number, kind: 'act' | 'broken'): string {
  return `<text class="${kind}" x="${LEFT}" y="${y + 4}">${escapeXml(line)}</text>`;
}

/** The pod, without its run. */
function shortName(server: string): string {
  return (server.split('_')[0] ?? server).split('-').slice(-2).join('-');
}

function zeroless(address: string): string {
  return address === '0.0.0.0' ? '' : address;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
