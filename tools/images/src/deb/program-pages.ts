import type { Program } from '@vmdhcp/service-process';
import type { Command } from 'commander';

/** The manual page of a program: the help of each of its commands. @param date - as in 2026-01-31. */
export function manualPage({ name, description, commands, environment }: Program, date: string): string {
  return [
    `.TH ${name.toUpperCase()} 1 ${date} vmdhcp "User Commands"`,
    '.SH NAME',
    `${troff(name)} \\- ${troff(description)}`,
    '.SH SYNOPSIS',
    ...commands.map((command) => `.B ${troff(`${name} ${command.name()}`)}\n${troff(command.usage())}\n.br`),
    ...commands.flatMap((command) => [
      `.SH ${troff(command.name().toUpperCase())}`,
      '.nf',
      troff(helpOf(command)).trimEnd(),
      '.fi',
    ]),
    '.SH ENVIRONMENT',
    ...Object.entries(environment).flatMap(([variable, meaning]) => ['.TP', `.B ${troff(variable)}`, troff(meaning)]),
    '',
  ].join('\n');
}

/** Completions for bash: commands, their options, and the choices of options that have some; files otherwise. */
export function bashCompletion({ name, commands }: Program): string {
  const words = (list: readonly string[]) => list.join(' ');
  const cases = commands.map(
    (command) => `    ${command.name()}) words="${words([...command.options.map(({ long }) => long ?? ''), '--help'])}" ;;`,
  );
  const choices = commands.flatMap((command) =>
    command.options.flatMap(({ long, argChoices }) =>
      argChoices === undefined ? [] : [`    ${command.name()}:${long}) words="${words(argChoices)}" ;;`],
    ),
  );
  const identifier = `_${name.replaceAll('-', '_')}`;
  return `# bash completion of ${name}, generated from the program
${identifier}() {
  local words="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "\${COMP_WORDS[1]}:$previous" in
${choices.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${words([...commands.map((command) => command.name()), '--help', '--version'])}"; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F ${identifier} ${name}
`;
}

function helpOf(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => parts.push(part), getOutHelpWidth: () => 100 }).outputHelp();
  return parts.join('');
}

/** Text as troff prints it: no line is a request, no character a command. */
function troff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');
}
