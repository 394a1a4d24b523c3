/** From one tag of the catalog to another: it has one version of each product, and its exact tag makes pods outdated as another one would. */
import assert from 'node:assert/strict';
import type { Step } from './stage.ts';

export const upgradeStep: Step = {
  name: 'upgrade: an older version is refused; to another tag all pods are made anew, one after the other',
  async run(stage) {
    const { site, subject } = stage;
    const { server = '' } = await site.status(subject.name);
    const version = /\d+\.\d+\.\d+$/.exec(server)?.[0] ?? '';
    const image = `${site.product}:${version}`;
    const back = stage.newName('back');
    await site.task(back, { cluster: subject.name, upgrade: { version: '1.0' } });
    const refused = await site.taskEnded(back);
    assert.equal(refused.code, 'UPGRADE_OLDER', JSON.stringify(refused));
    const before = await site.podsOf(subject.name);
    const old = new Set(before.map(({ metadata }) => metadata.uid));
    assert.ok(before.every(({ spec }) => spec?.containers?.[0]?.image !== image));
    const up = stage.newName('up');
    await site.task(up, { cluster: subject.name, upgrade: { version } });
    const ended = await site.taskEnded(up);
    assert.equal(ended.message, `6 pods run ${image}`, JSON.stringify(ended));
    await stage.whole();
    const after = await site.podsOf(subject.name);
    assert.ok(after.every(({ metadata, spec }) => !old.has(metadata.uid) && spec?.containers?.[0]?.image === image));
  },
};
