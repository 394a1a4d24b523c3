/** The dated result file of a proof. */
export { writeResult } from '@reeve/rig';
