/** For tests and proofs on a real kube-apiserver: a reflector behind a relay that can misbehave, and who judges it. */
export { definition, maps, things } from './reflector/kinds-testing.ts';
export { type Endings, QUICK, reflecting, type Scene, type Thing } from './reflector/real-testing.ts';
export { BUSY, storm } from './reflector/storm-testing.ts';
