/** The Mantine theme of docs/design.md: which colour and size token each component takes. */
import { createElement } from 'react';
import {
  type AccordionProps,
  type ActionIconProps,
  type AlertProps,
  type ButtonProps,
  type CloseButtonProps,
  type ComboboxChevronProps,
  createTheme,
  type CSSVariablesResolver,
  type DrawerProps,
  type InputProps,
  type InputWrapperProps,
  type LoaderProps,
  type MantineColorsTuple,
  type MantineThemeComponent,
  type MenuProps,
  type ModalProps,
  type PaperProps,
  type PopoverProps,
  type SelectProps,
  type TooltipProps,
} from '@mantine/core';
import { type Icon, IconChevronDown, IconX } from '@tabler/icons-react';
import type { Density } from './density';

const accent: MantineColorsTuple = [
  '#e9edfc',
  '#d2d9f8',
  '#a3b2ff',
  '#8497f2',
  '#6f86ea',
  '#4c66e4',
  '#2f4bd0',
  '#2a43bb',
  '#2338a0',
  '#1b2c80',
];
const gray: MantineColorsTuple = [
  '#f6f7f9',
  '#eef0f4',
  '#e0e4ea',
  '#c3cad5',
  '#9aa4b4',
  '#8b95a6',
  '#667085',
  '#4d5768',
  '#2e3645',
  '#161b26',
];
const dark: MantineColorsTuple = [
  '#e8ecf2',
  '#aeb7c5',
  '#8b95a6',
  '#667183',
  '#3b4554',
  '#262d38',
  '#1b212b',
  '#151a22',
  '#0d1117',
  '#0a0d12',
];
const red: MantineColorsTuple = [
  '#fdeae2',
  '#fbd5c5',
  '#ff9b73',
  '#f0825a',
  '#de6434',
  // White on it has a contrast of 4.7: the dark scheme fills buttons with it.
  '#c8491a',
  '#b3350c',
  '#a02f0a',
  '#822608',
  '#611c06',
];

/**
 * Props that a component takes where a page gives none. The components themselves are not imported,
 * because most of them are not needed for the first page.
 */
function withDefaults<Props>(defaultProps: Partial<Props>): MantineThemeComponent {
  return { defaultProps };
}

function decoration(shape: Icon, size: number | string) {
  return createElement(shape, { size, 'aria-hidden': true });
}

export function makeTheme(density: Density) {
  const size = density === 'compact' ? 'xs' : 'sm';
  return createTheme({
    colors: { accent, gray, dark, red },
    primaryColor: 'accent',
    primaryShade: { light: 6, dark: 5 },
    fontFamily: 'var(--font-text)',
    fontFamilyMonospace: 'var(--font-code)',
    fontSizes: {
      xs: 'var(--text-fine)',
      sm: 'var(--text-small)',
      md: 'var(--text-body)',
      lg: 'var(--text-section)',
      xl: 'var(--text-title)',
    },
    spacing: { xs: 'var(--gap-2)', sm: 'var(--gap-3)', md: 'var(--gap-4)', lg: 'var(--gap-5)', xl: 'var(--gap-6)' },
    radius: { xs: '3px', sm: '4px', md: 'var(--corner)', lg: 'var(--corner-card)', xl: '16px' },
    defaultRadius: 'md',
    cursorType: 'pointer',
    components: {
      // Symbols of Mantine's own are decoration: what they are on has the name.
      Accordion: withDefaults<AccordionProps>({ chevron: decoration(IconChevronDown, 16) }),
      ActionIcon: withDefaults<ActionIconProps>({ variant: 'subtle', color: 'gray', size: 'md' }),
      Alert: withDefaults<AlertProps>({ variant: 'light', radius: 'md' }),
      Button: withDefaults<ButtonProps>({ size, fw: 550 }),
      CloseButton: withDefaults<CloseButtonProps>({ icon: decoration(IconX, '70%') }),
      ComboboxChevron: withDefaults<ComboboxChevronProps>({ 'aria-hidden': true }),
      Drawer: withDefaults<DrawerProps>({ overlayProps: { backgroundOpacity: 0.35 } }),
      Input: withDefaults<InputProps>({ size }),
      InputWrapper: withDefaults<InputWrapperProps>({ size }),
      // With a role, because a name on a span without one is not read.
      Loader: withDefaults<LoaderProps>({ size: 'sm', type: 'dots', role: 'status' }),
      // A menu must not contain a focus placeholder, so the menu itself takes the focus.
      Menu: withDefaults<MenuProps>({ shadow: 'md', radius: 'md', withInitialFocusPlaceholder: false }),
      Modal: withDefaults<ModalProps>({ radius: 'lg', centered: true, overlayProps: { backgroundOpacity: 0.35 } }),
      Paper: withDefaults<PaperProps>({ radius: 'lg', withBorder: true }),
      Popover: withDefaults<PopoverProps>({ shadow: 'md', radius: 'md' }),
      Select: withDefaults<SelectProps>({ allowDeselect: false, checkIconPosition: 'right' }),
      Tooltip: withDefaults<TooltipProps>({
        openDelay: 250,
        withArrow: true,
        events: { hover: true, focus: true, touch: true },
      }),
    },
  });
}

/** Mantine's own variables that its components read, from ours. */
const fromTokens = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-soft)',
  '--mantine-color-placeholder': 'var(--ink-faint)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--sunken)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-anchor': 'var(--accent-ink)',
  '--mantine-color-error': 'var(--failed)',
};

/** Mantine's own are darker than the card, so that the buttons would look disabled. */
const lightAccentInDark = {
  '--mantine-color-accent-light': 'var(--accent-wash)',
  '--mantine-color-accent-light-hover': 'color-mix(in srgb, var(--accent-wash), var(--accent) 25%)',
  '--mantine-color-accent-light-color': 'var(--accent-ink)',
};

export const mantineVariables: CSSVariablesResolver = () => ({
  variables: { '--mantine-shadow-md': 'var(--shadow)', '--mantine-shadow-xl': 'var(--shadow)' },
  light: fromTokens,
  dark: { ...fromTokens, ...lightAccentInDark },
});
