export function PlusMenu(_: { readonly agent: string; readonly conversation: string | undefined }) {
  return null;
}
