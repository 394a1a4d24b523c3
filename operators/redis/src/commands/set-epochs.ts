import { done, failed } from '@reeve/runtime';
import type { SetEpochs } from '../api/commands.ts';
import { ask, doneIf, handlerFor, type IsDone, nameOf, StaleEvidence, tableOf } from './evidence.ts';

const areSet: IsDone<SetEpochs> = async ({ epochs }, context) => {
  const tables = await Promise.all(epochs.map(({ node }) => tableOf(context, node)));
  return doneIf(epochs.every(({ epoch }, index) => tables[index]?.self.configEpoch === epoch));
};

/** Different config epochs for nodes that have not met yet, each read back: the servers ignore some failures silently. */
export const setEpochsHandler = handlerFor<SetEpochs>('set-epochs', areSet, async (command, context) => {
  const before = await Promise.all(command.epochs.map(({ node }) => tableOf(context, node)));
  const open = command.epochs.filter(({ epoch }, index) => before[index]?.self.configEpoch !== epoch);
  for (const { node, epoch } of open) {
    const table = before[command.epochs.findIndex((entry) => entry.node.id === node.id)];
    if (table && (table.others.length > 0 || table.self.configEpoch !== 0)) {
      throw new StaleEvidence(
        `${nameOf(node)} has epoch ${table.self.configEpoch} and knows ${table.others.length} others: ${epoch} cannot be set`,
      );
    }
  }
  await Promise.all(open.map(({ node, epoch }) => ask(context, node, ['CLUSTER', 'SET-CONFIG-EPOCH', String(epoch)])));
  const after = await Promise.all(open.map(({ node }) => tableOf(context, node)));
  for (const [index, { node, epoch }] of open.entries()) {
    const got = after[index]?.self.configEpoch;
    if (got !== epoch)
      return failed('EPOCH_NOT_SET', `${nameOf(node)} answered OK, but has epoch ${got}, not ${epoch}`);
  }
  return done;
});
