//! Which programs are built, by the spans of the runtime.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Programs in the order in which their builds ended.
#[derive(Clone, Default)]
pub(super) struct Builds {
    built: Arc<Mutex<Vec<(String, f64)>>>,
}

/// Notes every program that this process builds from now on.
pub(super) fn watch() -> Builds {
    let builds = Builds::default();
    let registry = tracing_subscriber::registry().with(builds.clone());
    // Only the first of a process takes effect.
    let _ = subscriber::set_global_default(registry);
    builds
}

impl Builds {
    /// A line each: milliseconds, and the kernel's key.
    pub(super) fn lines(&self) -> String {
        let built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.iter().fold(String::new(), |mut text, (kernel, ms)| {
            let _ = writeln!(text, "    {ms:6.0} ms  {kernel}");
            text
        })
    }
}

/// The field `kernel` of a span.
#[derive(Default)]
struct Kernel(String);

impl Visit for Kernel {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "kernel" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Builds {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().name() == "build"
            && let Some(span) = context.span(id)
        {
            let mut kernel = Kernel::default();
            attributes.record(&mut kernel);
            span.extensions_mut().insert((kernel.0, Instant::now()));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id)
            && let Some((kernel, start)) = span.extensions().get::<(String, Instant)>()
        {
            let ms = start.elapsed().as_secs_f64() * 1e3;
            self.built.lock().unwrap_or_else(PoisonError::into_inner).push((kernel.clone(), ms));
        }
    }
}
