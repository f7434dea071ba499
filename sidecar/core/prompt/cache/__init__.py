"""The provider's cache: what it holds, why it missed, how long to pay for."""
