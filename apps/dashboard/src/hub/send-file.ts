/** Files to the hub and from it: what goes beside GraphQL, with the viewer's key. */
import { failureOf, type MutationFailure } from './mutation-failure';
import { authorization } from './session';

type Sent = { readonly id: string } | { readonly failure: MutationFailure };

/** As a form with the field `file`; other fields come before it. */
export async function sendFile(url: string, file: File, fields: Readonly<Record<string, string>> = {}): Promise<Sent> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', file, file.name);
  try {
    const answer = await fetch(url, { method: 'POST', headers: authorization(), body: form });
    const said = (await answer.json()) as { readonly id?: string; readonly code?: string; readonly message?: string };
    if (answer.ok && said.id !== undefined) return { id: said.id };
    const message = said.message ?? `The hub answered ${answer.status}.`;
    return { failure: failureOf([{ code: said.code ?? '', message }]) };
  } catch {
    return { failure: failureOf([]) };
  }
}

/** Downloads a file from an address of the hub. Returns false if the hub did not send it. */
export async function saveFile(url: string, name: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers: authorization() });
    if (!answer.ok) return false;
    saveBlob(await answer.blob(), name);
    return true;
  } catch {
    return false;
  }
}

/** Downloads a text that the console has. */
export function saveText(text: string, name: string): void {
  saveBlob(new Blob([text], { type: 'text/plain' }), name);
}

function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
