/** What `reeve up` says when it runs: where things are, and how to go on. */
import { plural } from '../output/format.ts';
import { shellWord } from '../output/shell-word.ts';
import type { ControlPlane } from './control-plane.ts';
import { retiredLines } from './retired-nodes.ts';

export interface Welcome extends Pick<ControlPlane, 'url' | 'registered' | 'retired'> {
  readonly folder: Pick<ControlPlane['folder'], 'path' | 'kubeconfig'>;
  readonly detected: { readonly drivers: readonly [{ readonly name: string }, ...unknown[]]; readonly remedy: string };
  /** How many nodes there are to be. */
  readonly nodes: number;
  /** Given ones. */
  readonly zones: readonly string[];
  /** Taken over. */
  readonly pods: number;
  /** What to type to end it with its pods. */
  readonly down: string;
}

export function welcome(plane: Welcome): string {
  const { url, folder, detected, pods } = plane;
  const [driver] = detected.drivers;
  const lines = [
    `API         ${url}`,
    `kubeconfig  ${folder.kubeconfig}`,
    `data        ${folder.path}`,
    `nodes       ${nodesText(plane)}, pods as processes (${driver.name})${pods > 0 ? `, ${plural(pods, 'pod')} taken over` : ''}`,
    ...retiredLines(plane.retired).map((line) => `            ${line}`),
    ...(driver.name === 'plain' ? [`            pods with mounts need more: ${detected.remedy}`] : []),
    '',
    'Go on from another terminal:',
    '',
    `  export KUBECONFIG=${shellWord(folder.kubeconfig)}`,
    '  reeve get nodes        (kubectl does it as well)',
    '',
    `Ctrl-C stops the control plane; pods go on. \`${plane.down}\` ends them, too.`,
    '',
  ];
  return lines.join('\n');
}

function nodesText({ nodes, registered, zones }: Welcome): string {
  const places = zones.length === 0 ? '' : ` in ${zones.length === 1 ? 'zone' : 'zones'} ${zones.join(', ')}`;
  if (registered === nodes) return `${nodes}${places}`;
  return `${registered} of ${nodes}${places} (--verbose says what keeps the others away)`;
}
