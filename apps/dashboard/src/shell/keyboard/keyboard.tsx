/** The keyboard of the console: the palette, the list of shortcuts, and what single keys do. */
import { createContext, type ReactNode, Suspense, useContext, useEffect, useRef, useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { useIsSignedIn, useViewer } from '../../hub/hub';
import { lazyPart } from '../../parts/lazy-part';
import { navigationFor } from '../navigation';
import { areShortcutsOn } from './keyboard-choice';
import { focusRow, focusSearch, hasDialog, hasOwnKeys, takesKeys } from './page-focus';
import { type PressedKey, readKey, type ShortcutAct, type StartedSequence } from './shortcuts';

const Palette = lazyPart(async () => (await import('../palette/palette')).Palette);
const ShortcutsDialog = lazyPart(async () => (await import('./shortcuts-dialog')).ShortcutsDialog);

type Open = 'palette' | 'help';

const KeyboardContext = createContext<(open: Open) => void>(() => undefined);

/** Opens the palette or the list of shortcuts. */
export function useKeyboard(): (open: Open) => void {
  return useContext(KeyboardContext);
}

export function Keyboard({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  useShortcuts(setOpen);
  return (
    <KeyboardContext value={setOpen}>
      {children}
      <Suspense>
        {open === 'palette' && <Palette onClose={close} onHelp={() => setOpen('help')} />}
        {open === 'help' && <ShortcutsDialog onClose={close} />}
      </Suspense>
    </KeyboardContext>
  );
}

function useShortcuts(open: (open: Open) => void): void {
  const navigate = useNavigate();
  const viewer = useViewer();
  const isSignedIn = useIsSignedIn();
  const started = useRef<StartedSequence>(undefined);
  useEffect(() => {
    // The sign-in page covers the page, which keeps its place.
    if (!isSignedIn) return undefined;
    const act = (wanted: ShortcutAct): boolean => {
      if (wanted.is === 'palette' || wanted.is === 'help') open(wanted.is);
      else if (wanted.is === 'search') return focusSearch();
      else if (wanted.is === 'move') return focusRow(wanted.by);
      else {
        const page = navigationFor(viewer).find(({ name }) => name === wanted.page);
        if (page === undefined) return false;
        void navigate({ to: page.to });
      }
      return true;
    };
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || hasOwnKeys()) return;
      const pressed = pressedKey(event);
      const read = readKey(started.current, pressed);
      started.current = undefined;
      // A key that is held moves on through a list, and does nothing else again.
      if (event.repeat && read.act?.is !== 'move') return;
      if (read.act?.is !== 'palette') {
        if (!areShortcutsOn() || takesKeys(document.activeElement) || hasDialog()) return;
        started.current = read.started;
      }
      if (read.act !== undefined && act(read.act)) event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [navigate, open, viewer, isSignedIn]);
}

function pressedKey({ key, ctrlKey, metaKey, altKey, timeStamp }: KeyboardEvent): PressedKey {
  return { key, hasControl: ctrlKey || metaKey, hasAlt: altKey, at: timeStamp };
}
