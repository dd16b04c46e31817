/** The program of an agent in its image, with which a command in its container begins: there is no shell, and no other name for it. */
export const AGENT_PROGRAM: readonly string[] = ['/usr/bin/node', '/app/node_modules/vmdhcp-agent/bin/vmdhcp-agent.js'];
