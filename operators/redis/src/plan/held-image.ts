/**
 * An image that a person asked for and that servers must not be given: another product, or one older than who holds the data. The set then
 * keeps an image that fits, and pods are not made anew, until the spec is right again. What an upgrade task refuses is thus refused however
 * it is asked for. Pure.
 */
import type { Refusal } from '@reeve/runtime';
import { countSlots } from '../api/slots.ts';
import type { Desired } from './desired.ts';
import { productOfImage, productProblem, versionProblem } from './image-problems.ts';
import type { PodMember } from './pods.ts';
import { ownSlots } from './topology.ts';

export interface ImageFacts {
  readonly desired: Pick<Desired, 'image' | 'product'>;
  readonly members: readonly PodMember[];
  /** What pods are made from now. Undefined: there is no set yet. */
  readonly present: string | undefined;
  /** Nothing was ever begun: whoever is silent holds nothing. */
  readonly isUntouched: boolean;
}

export interface HeldImage {
  /** What pods are made from meanwhile. */
  readonly image: string;
  readonly refused: Refusal;
}

export function heldImage(facts: ImageFacts): HeldImage | undefined {
  const { desired, present, members } = facts;
  if (present === undefined) return undefined;
  const [refused] = problemsOf(desired, facts);
  if (!refused) return undefined;
  // A set may have been given it before anybody could say that it does not fit.
  const others = members.flatMap(({ node, image }) => (node && image !== undefined ? [image] : []));
  const fits = (image: string) => problemsOf({ image, product: productOfImage(image) }, facts).length === 0;
  return { image: [present, ...others].find(fits) ?? present, refused };
}

/** By those who own slots: a replica that a wrong image has reached already must not keep the spec from being set right. */
function problemsOf(wanted: ImageFacts['desired'], { members, present, isUntouched }: ImageFacts): readonly Refusal[] {
  // Nothing was ever begun: there is nothing that another one could not read.
  if (isUntouched) return [];
  const answering = members.filter(({ node }) => node);
  const owners = answering.filter(({ node }) => node && countSlots(ownSlots(node)) > 0);
  const judges = owners.length > 0 ? owners : answering;
  if (judges.length > 0) return [...productProblem(wanted, judges), ...versionProblem(wanted.image, judges)];
  // Nobody says what it is: its name does.
  const was = present === undefined ? undefined : productOfImage(present);
  if (was === undefined || wanted.product === undefined || wanted.product === was) return [];
  const message = `the pods were made from ${present}, and ${wanted.image} is another product: make a new cluster and restore a backup into it`;
  return [{ code: 'MIXED_PRODUCTS', message, subjects: [] }];
}
