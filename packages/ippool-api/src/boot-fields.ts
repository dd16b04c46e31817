import { z } from 'zod';
import { ipv4Address } from './formats.js';

/** How clients boot over the network: fields that several kinds share. */

const boot = {
  nextServer: ipv4Address().optional().describe('The server that clients load their boot file from (siaddr, option 66).'),
  bootfile: z.string().max(127).optional().describe('The file that clients boot (option 67).'),
};

export const bootFields = {
  ...boot,
  bootByArchitecture: z
    .array(z.object({ architecture: z.int().min(0).max(65_535), ...boot }))
    .max(32)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['architecture'] })
    .describe('Boot settings for single client architectures (option 93): 0 x86 BIOS, 7 x86-64 EFI, 11 arm64 EFI.'),
};
