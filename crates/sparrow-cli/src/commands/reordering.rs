//! What `sparrow info --explain` says of other orders of rows and columns.

use serde_json::{Value, json};
use sparrow_bench::{ReorderedForecast, ReorderingForecast, multiple};

/// Gains below this are within what the model is wrong by.
const LEAST_GAIN: f64 = 1.1;

/// What a product in an order saves, in microseconds, where more is saved than the model is wrong by.
fn saved_us(forecast: &ReorderingForecast, product_us: f64) -> Option<f64> {
    let as_it_is = forecast.as_it_is_us;
    (product_us * LEAST_GAIN < as_it_is).then_some(as_it_is - product_us)
}

/// Products from which on an order pays, with vectors in it or moved each time; `None` where it never does.
fn products(
    forecast: &ReorderingForecast,
    order: &ReorderedForecast,
    moves_us: f64,
) -> Option<f64> {
    let saved = saved_us(forecast, order.product_us + moves_us)?;
    Some((order.setup_ms * 1e3 / saved).ceil())
}

/// The order by which most is saved, if one saves anything.
fn best(forecast: &ReorderingForecast) -> Option<&ReorderedForecast> {
    let pays = |order: &&ReorderedForecast| saved_us(forecast, order.product_us).is_some();
    let least =
        |a: &&ReorderedForecast, b: &&ReorderedForecast| a.product_us.total_cmp(&b.product_us);
    forecast.orders.iter().filter(pays).min_by(least)
}

/// What each order would take, and whether one would pay; without a forecast no order has x nearer.
pub(super) fn in_words(forecast: Option<&ReorderingForecast>) -> String {
    let Some(forecast) = forecast else {
        return "  reordering would not pay: x is found no nearer in another order\n".to_owned();
    };
    let mut text = format!(
        "  in another order (--reordering), by the bandwidth model: {:.1} µs a product by CSR as it is",
        forecast.as_it_is_us
    );
    for order in &forecast.orders {
        let ReorderedForecast { reordering, product_us, setup_ms } = order;
        text.push_str(&format!("; {product_us:.1} µs by {reordering}, found in {setup_ms:.0} ms"));
    }
    text.push_str("\n  ");
    let Some(order) = best(forecast) else {
        text.push_str("reordering would not pay\n");
        return text;
    };
    let reordering = order.reordering;
    let gain = multiple(forecast.as_it_is_us / order.product_us);
    let in_order = products(forecast, order, 0.0);
    text.push_str(&format!(
        "{reordering} would pay in a solver, whose vectors stay in the order: {gain} times as fast"
    ));
    in_order.iter().for_each(|products| text.push_str(&format!(", from {products} products on")));
    let moves_us = forecast.moves_us;
    match products(forecast, order, moves_us) {
        Some(products) => text.push_str(&format!(
            "; and where x and y are moved for each product, which takes {moves_us:.1} µs, from {products} products on\n"
        )),
        None => text.push_str(&format!(
            "; not where x and y are moved for each product, which takes {moves_us:.1} µs\n"
        )),
    }
    text
}

/// The same for programs.
pub(super) fn json_of(forecast: &ReorderingForecast) -> Value {
    let of_order = |order: &ReorderedForecast| {
        json!({
            "reordering": order.reordering.name(),
            "product_us": order.product_us,
            "setup_ms": order.setup_ms,
            "pays_from_products": products(forecast, order, 0.0),
            "pays_from_products_when_moved": products(forecast, order, forecast.moves_us),
        })
    };
    json!({
        "as_it_is_us": forecast.as_it_is_us,
        "moves_us": forecast.moves_us,
        "orders": forecast.orders.iter().map(of_order).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use sparrow::Reordering;

    use super::*;

    fn forecast(product_us: f64, moves_us: f64) -> ReorderingForecast {
        let order = ReorderedForecast { reordering: Reordering::Rcm, product_us, setup_ms: 10.0 };
        ReorderingForecast { as_it_is_us: 100.0, moves_us, orders: vec![order] }
    }

    #[test]
    fn an_order_pays_after_as_many_products_as_its_set_up_takes() {
        let found = forecast(60.0, 20.0);
        let text = in_words(Some(&found));
        assert!(text.contains("rcm would pay in a solver"), "{text}");
        assert!(text.contains("1.67 times as fast, from 250 products on"), "{text}");
        assert!(text.contains("takes 20.0 µs, from 500 products on"), "{text}");
        assert_eq!(json_of(&found)["orders"][0]["pays_from_products"], 250.0);
        let moved = in_words(Some(&forecast(60.0, 50.0)));
        assert!(moved.contains("not where x and y are moved"), "{moved}");
    }

    #[test]
    fn a_gain_within_the_models_error_is_none() {
        let found = forecast(92.0, 0.0);
        let text = in_words(Some(&found));
        assert!(text.ends_with("reordering would not pay\n"), "{text}");
        assert!(in_words(None).contains("would not pay"));
        assert_eq!(json_of(&found)["orders"][0]["pays_from_products"], Value::Null);
    }
}
