"""The only place that knows a vendor SDK: encode, stream, decode, retry, prices, offline model."""
