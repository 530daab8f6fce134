import type { Root, RootContent } from 'hast';

const BLOCKS = new Set(['p', 'ul', 'ol', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'th', 'td']);

/** Every block is written from the side from which its words are; what stands in a list or a quotation goes with it. */
export function directions() {
  return (tree: Root): void => {
    for (const node of tree.children) direct(node);
  };
}

function direct(node: RootContent): void {
  if (node.type !== 'element') return;
  if (BLOCKS.has(node.tagName)) node.properties['dir'] = 'auto';
  else for (const child of node.children) direct(child);
}
