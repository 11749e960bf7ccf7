/**
 * Provides the signed-in viewer, the client and the connection state to its pages, or shows the
 * sign-in page: over the pages after a session has ended, so that their forms keep their input.
 */
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { Provider } from 'urql';
import { Connection, type ConnectionState } from './connection/connection';
import { type HubClient, openHubClient } from './hub-client';
import { hasFleetScope, hasScope, isLimited, mayCallInJobs, mayRollOut, mayStartJobs } from './rights';
import { type Scope, Session, type SessionState, shownViewer, type Viewer, viewerId } from './session';

interface Hub {
  readonly session: Session;
  readonly connection: Connection;
}

const HubContext = createContext<Hub | undefined>(undefined);
const ViewerContext = createContext<Viewer | undefined>(undefined);

interface HubProps {
  /** Shown while no viewer is signed in. */
  readonly entrance: (state: Exclude<SessionState, { is: 'in' }>) => ReactNode;
  readonly children: ReactNode;
}

export function HubProvider({ entrance, children }: HubProps) {
  const [hub] = useState<Hub>(() => ({ session: new Session(), connection: new Connection() }));
  const state = useSyncExternalStore(hub.session.subscribe, hub.session.state);
  useEffect(() => void hub.session.open(), [hub]);
  const viewer = shownViewer(state);
  return (
    <HubContext value={hub}>
      {viewer && (
        <ViewerContext value={viewer}>
          <ClientProvider key={viewerId(viewer)} isSignedIn={state.is === 'in'}>
            {children}
          </ClientProvider>
        </ViewerContext>
      )}
      {state.is !== 'in' && entrance(state)}
    </HubContext>
  );
}

interface ClientProviderProps {
  /** Without a session, the pages keep the closed client. */
  readonly isSignedIn: boolean;
  readonly children: ReactNode;
}

/**
 * Creates one client per session, so that no viewer sees cached data of another. A person with a
 * new role keeps it.
 */
function ClientProvider({ isSignedIn, children }: ClientProviderProps) {
  const { session, connection } = useHub();
  const [opened, setOpened] = useState<HubClient>();
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const onReturned = () => void session.renew();
    const made = openHubClient({ connection, onUnauthenticated: session.end, onReturned });
    setOpened(made);
    return made.close;
  }, [session, connection, isSignedIn]);
  return opened && <Provider value={opened.client}>{children}</Provider>;
}

function useHub(): Hub {
  const hub = useContext(HubContext);
  if (!hub) throw new Error('Outside of HubProvider.');
  return hub;
}

export function useSession(): Session {
  return useHub().session;
}

export function useIsSignedIn(): boolean {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.state).is === 'in';
}

export function useConnection(): ConnectionState {
  const { connection } = useHub();
  return useSyncExternalStore(connection.subscribe, connection.state);
}

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('Only pages of a signed-in viewer ask for it.');
  return viewer;
}

/** A limited key sees less of the hub. */
export function useIsLimited(): boolean {
  return isLimited(useViewer());
}

export function useScope(scope: Scope): boolean {
  return hasScope(useViewer(), scope);
}

/** For what affects the whole fleet. */
export function useFleetScope(scope: Scope): boolean {
  return hasFleetScope(useViewer(), scope);
}

export function useMayCallInJobs(): boolean {
  return mayCallInJobs(useViewer());
}

export function useMayRollOut(): boolean {
  return mayRollOut(useViewer());
}

/** Jobs of either kind. */
export function useMayStartJobs(): boolean {
  return mayStartJobs(useViewer());
}
